"""Passwords: kept as argon2id, and worth guessing no faster for names that do not exist."""

import threading

import pytest

from app.accounts import passwords
from app.errors import Invalid, Unavailable


def test_a_password_matches_its_hash_alone() -> None:
    known = passwords.hashed("correct horse battery")
    assert known.startswith("$argon2id$")
    assert passwords.matches("correct horse battery", known)
    assert not passwords.matches("correct horse batter", known)
    assert not passwords.is_stale(known)


@pytest.mark.parametrize("password", ["the password of no account", "", "\ud800", "x" * 100_000])
def test_nobody_has_a_password(password: str) -> None:
    assert not passwords.matches(password, None)


def test_a_name_that_does_not_exist_costs_one_verification(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted, not timed: what takes the time is the one hash over 19 MiB."""
    known = passwords.hashed("correct horse battery")
    passwords.matches("warm", None)
    verified: list[str] = []
    monkeypatch.setattr(passwords, "_hasher", Recorder(verified))
    passwords.matches("wrong", known)
    passwords.matches("wrong", None)
    parameters = [text.split("$")[1:4] for text in verified]
    assert len(parameters) == 2
    assert parameters[0] == parameters[1]


def test_nobody_waits_long_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits holds a thread that others need."""
    monkeypatch.setattr(passwords, "_room", threading.BoundedSemaphore(1))
    monkeypatch.setattr(passwords, "_PATIENCE_SECONDS", 0.0)
    with passwords._turn(), pytest.raises(Unavailable):
        passwords.hashed("correct horse battery")
    assert passwords.hashed("correct horse battery")


class Recorder:
    """Notes which hashes a password is held against."""

    def __init__(self, verified: list[str]) -> None:
        self._verified = verified
        self._hasher = passwords._hasher

    def verify(self, known: str, password: bytes) -> bool:
        """As argon2's does."""
        self._verified.append(known)
        return self._hasher.verify(known, password)


@pytest.mark.parametrize("password", ["short", "a" * 40, "adaada1234ada", "x" * 2000, "é" * 600])
def test_weak_and_endless_passwords_are_refused(password: str) -> None:
    with pytest.raises(Invalid):
        passwords.check_new(password, "ada")


def test_a_short_name_may_stand_in_a_long_password() -> None:
    passwords.check_new("salad days of august", "ad")
