"""Frames: exactly one message, or none."""

import os

import pytest

from workers.jail import frame


def written(kind: frame.Kind, payload: bytes) -> bytes:
    """What `write` puts into a pipe."""
    reader, writer = os.pipe()
    frame.write(writer, kind, payload)
    os.close(writer)
    with open(reader, "rb") as pipe:
        return pipe.read()


@pytest.mark.parametrize("kind", frame.Kind)
@pytest.mark.parametrize("payload", [b"", b"abc", bytes(10_000)])
def test_round_trip(kind: frame.Kind, payload: bytes) -> None:
    assert frame.parse(written(kind, payload)) == frame.Frame(kind, payload)


@pytest.mark.parametrize("change", ["empty", "short", "long", "kind", "twice", "size"])
def test_anything_else_is_none(change: str) -> None:
    good = written(frame.Kind.RESULT, b"abc")
    bad = {
        "empty": b"",
        "short": good[:-1],
        "long": good + b"x",
        "kind": b"\x09" + good[1:],
        "twice": good * 2,
        "size": good[:1] + b"\xff" * 8 + good[9:],
    }
    assert frame.parse(bad[change]) is None
