"""A module that jails import after the fork."""

GREETING = b"hello from next door"
