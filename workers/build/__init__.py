"""Turns a submission into a launch plan, without a GPU; runs in the jail."""
