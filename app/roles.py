"""What an account may do, and what a token of it may."""

from enum import StrEnum


class Role(StrEnum):
    """Of an account."""

    PARTICIPANT = "participant"
    ADMIN = "admin"
    """Sees every source, and looks after accounts and invitations."""


class Scope(StrEnum):
    """Of a token; a browser that is signed in has all that its account's role allows."""

    READ = "read"
    """Ask for anything that its account may see."""
    SUBMIT = "submit"
    """Submit, cancel and measure again."""
    ADMIN = "admin"
    """What only admins may do; worthless with another account's token."""
