"""Passwords: argon2id, one verification's worth of time whether the account exists or not."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from app.errors import Invalid, Unavailable

SHORTEST = 10
LONGEST_BYTES = 1024

# OWASP's first choice for argon2id: 19 MiB, two passes, one lane.
_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_room = threading.BoundedSemaphore(4)
"""Of memory and cores."""

_PATIENCE_SECONDS = 3.0
"""For room: whoever waits holds one of the threads that answer requests."""


def check_new(password: str, user: str) -> None:
    """Invalid for a password that is too short, too long or the user's name."""
    if len(password) < SHORTEST:
        raise Invalid(
            f"the password has fewer than {SHORTEST} characters",
            "Choose a longer one; some random words will do.",
        )
    if len(password.encode(errors="surrogatepass")) > LONGEST_BYTES:
        raise Invalid(f"the password has more than {LONGEST_BYTES} bytes", "Choose a shorter one.")
    rest = password.casefold().replace(user.casefold(), "")
    if len(rest) < SHORTEST // 2 or len(set(password)) < 4:
        raise Invalid(
            "the password is hardly more than the user name, or than one character",
            "Choose one that is harder to guess; some random words will do.",
        )


def hashed(password: str) -> str:
    """What the database keeps of a password; Unavailable when too many ask at once."""
    with _turn():
        return _hasher.hash(_bytes(password))


def matches(password: str, known: str | None) -> bool:
    """Whether it is the password of that hash; for None it takes as long, and is not.

    Unavailable when too many ask at once.
    """
    try:
        with _turn():
            _hasher.verify(_nobodys() if known is None else known, _bytes(password))
    except (VerifyMismatchError, InvalidHashError):
        return False
    return known is not None


def is_stale(known: str) -> bool:
    """Whether a hash was made with other parameters than are used now."""
    return _hasher.check_needs_rehash(known)


@contextmanager
def _turn() -> Iterator[None]:
    if not _room.acquire(timeout=_PATIENCE_SECONDS):
        raise Unavailable("too many people sign in at once", "Try again.", retry_after=5)
    try:
        yield
    finally:
        _room.release()


@cache
def _nobodys() -> str:
    return _hasher.hash(b"the password of no account")


def _bytes(password: str) -> bytes:
    return password.encode(errors="surrogatepass")[: LONGEST_BYTES + 1]
