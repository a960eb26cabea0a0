"""Which way of measuring a score comes from."""

HARNESS_VERSION = 1
"""Raised when measuring changes such that scores move by more than their intervals: boards then
begin anew, and show how many entries wait to be measured again."""
