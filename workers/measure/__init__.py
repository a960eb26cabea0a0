"""The measurer: inputs, comparison, replay and clock. No submitted Python ever runs in it."""
