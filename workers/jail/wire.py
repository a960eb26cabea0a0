"""One message on a stream socket: a JSON header and its binary parts."""

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

_LENGTH = struct.Struct("!I")
MOST_REQUEST_BYTES = 256 << 20
_MOST_HEADER_BYTES = 1 << 16
_MOST_PARTS = 8
_LENT = b"F"
_MOST_LENT = 4


class BrokenMessage(Exception):
    """The other side closed early, was too slow or sent something else."""


def _receive_exactly(connection: socket.socket, size: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < size:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise BrokenMessage("no complete message in time")
        connection.settimeout(remaining)
        try:
            chunk = connection.recv(min(size - len(received), 1 << 20))
        except OSError as error:
            raise BrokenMessage(f"no complete message: {error}") from error
        if not chunk:
            raise BrokenMessage("the connection was closed before a complete message")
        received += chunk
    return bytes(received)


def send(connection: socket.socket, header: dict[str, Any], *parts: bytes, timeout: float) -> None:
    """Send `header` and `parts`; BrokenMessage if the other side does not take them in time."""
    encoded = json.dumps({**header, "parts": [len(part) for part in parts]}).encode()
    connection.settimeout(timeout)
    try:
        connection.sendall(_LENGTH.pack(len(encoded)) + encoded)
        # Not the empty ones: who has all bytes may have closed already.
        for part in filter(None, parts):
            connection.sendall(part)
    except OSError as error:
        raise BrokenMessage(f"the message was not taken: {error}") from error


def lend(connection: socket.socket, descriptors: Sequence[int], timeout: float) -> None:
    """Share descriptors with the other side, which keeps them open until it ends."""
    connection.settimeout(timeout)
    try:
        socket.send_fds(connection, [_LENT], descriptors)
    except OSError as error:
        raise BrokenMessage(f"the descriptors were not taken: {error}") from error


def borrow(connection: socket.socket, timeout: float) -> list[int]:
    """Take what `lend` shares, perhaps nothing."""
    connection.settimeout(timeout)
    try:
        word, descriptors, _, _ = socket.recv_fds(connection, len(_LENT), _MOST_LENT)
    except OSError as error:
        raise BrokenMessage(f"no descriptors: {error}") from error
    if word != _LENT:
        raise BrokenMessage("the connection was closed before a message")
    return descriptors


def _parse_header(encoded: bytes) -> tuple[dict[str, Any], list[int]]:
    try:
        header = json.loads(encoded)
        sizes = header.pop("parts")
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise BrokenMessage(f"a header that is none: {error}") from error
    if not isinstance(sizes, list) or any(type(size) is not int or size < 0 for size in sizes):
        raise BrokenMessage("a header without the sizes of its parts")
    return header, sizes


def receive(
    connection: socket.socket, most_bytes: int, timeout: float
) -> tuple[dict[str, Any], list[bytes]]:
    """Receive one message whose parts have at most `most_bytes` together, in `timeout` seconds."""
    deadline = time.monotonic() + timeout
    (size,) = _LENGTH.unpack(_receive_exactly(connection, _LENGTH.size, deadline))
    if size > _MOST_HEADER_BYTES:
        raise BrokenMessage(f"a header of {size} bytes")
    header, sizes = _parse_header(_receive_exactly(connection, size, deadline))
    if len(sizes) > _MOST_PARTS or sum(sizes) > most_bytes:
        raise BrokenMessage(f"parts of {sizes} bytes, where {most_bytes} are allowed")
    return header, [_receive_exactly(connection, size, deadline) for size in sizes]
