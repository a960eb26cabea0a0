"""Messages between client and warden."""

import socket
import struct
from collections.abc import Iterator

import pytest

from workers.jail import wire

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two connected sockets."""
    left, right = socket.socketpair()
    with left, right:
        yield left, right


def test_round_trip(pair: Pair) -> None:
    wire.send(pair[0], {"a": [1, "é"]}, b"", b"\x00\xff" * 1000, timeout=1)
    assert wire.receive(pair[1], 2000, 1) == ({"a": [1, "é"]}, [b"", b"\x00\xff" * 1000])


def test_parts_over_the_limit(pair: Pair) -> None:
    wire.send(pair[0], {}, b"abc", b"de", timeout=1)
    with pytest.raises(wire.BrokenMessage, match=r"\[3, 2\] bytes, where 4 are allowed"):
        wire.receive(pair[1], 4, 1)


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{}",
        b"nonsense",
        b'{"parts": 3}',
        b'{"parts": [-1]}',
        b'{"parts": [true]}',
        b"[" * 60_000,
        b"\xff",
    ],
)
def test_headers_that_are_none(pair: Pair, header: bytes) -> None:
    pair[0].sendall(struct.pack("!I", len(header)) + header)
    with pytest.raises(wire.BrokenMessage, match="a header"):
        wire.receive(pair[1], 100, 1)


def test_header_that_is_too_large(pair: Pair) -> None:
    pair[0].sendall(b"\xff\xff\xff\xff")
    with pytest.raises(wire.BrokenMessage, match="a header of 4294967295 bytes"):
        wire.receive(pair[1], 100, 1)


def test_early_end(pair: Pair) -> None:
    pair[0].sendall(b"\x00\x00")
    pair[0].close()
    with pytest.raises(wire.BrokenMessage, match="closed before"):
        wire.receive(pair[1], 100, 1)


def test_silence(pair: Pair) -> None:
    with pytest.raises(wire.BrokenMessage, match="no complete message"):
        wire.receive(pair[1], 100, 0.05)


def test_nobody_takes_it(pair: Pair) -> None:
    with pytest.raises(wire.BrokenMessage, match="not taken"):
        wire.send(pair[0], {}, bytes(100_000_000), timeout=0.05)
