"""The one message that a jailed process writes: its kind, its length, its bytes."""

import os
import struct
from enum import IntEnum
from typing import NamedTuple

_HEAD = struct.Struct("!BQ")
HEAD_BYTES = _HEAD.size


class Kind(IntEnum):
    """What the payload is."""

    RESULT = 1
    ERROR = 2
    MEMORY_ERROR = 3


class Frame(NamedTuple):
    """A well-formed message; its content is still untrusted."""

    kind: Kind
    payload: bytes


def write(descriptor: int, kind: Kind, payload: bytes) -> None:
    """Write one whole message."""
    rest = memoryview(_HEAD.pack(kind, len(payload)) + payload)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def parse(data: bytes) -> Frame | None:
    """The message if `data` is exactly one, otherwise None."""
    if len(data) < HEAD_BYTES:
        return None
    kind, size = _HEAD.unpack_from(data)
    if kind not in tuple(Kind) or size != len(data) - HEAD_BYTES:
        return None
    return Frame(Kind(kind), data[HEAD_BYTES:])
