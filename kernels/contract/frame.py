"""One framing for everything that crosses a process boundary: a JSON header and raw blobs.

Layout, little-endian: the magic line, the number of blobs (u32), the length of the header (u64),
the length of each blob (u64 each), the header, the blobs.
"""

import struct
from collections.abc import Sequence

from kernels.contract import limits

_MAGIC = b"kerneljudge 1\n"
_COUNTS = struct.Struct("<IQ")
_LENGTH = struct.Struct("<Q")


class FrameRefused(ValueError):
    """Bytes are no frame; the message says why."""


def pack(header: str, blobs: Sequence[bytes] = ()) -> bytes:
    """The frame of a JSON header and its blobs."""
    text = header.encode()
    lengths = [_LENGTH.pack(len(blob)) for blob in blobs]
    return b"".join([_MAGIC, _COUNTS.pack(len(blobs), len(text)), *lengths, text, *blobs])


def unpack(data: bytes) -> tuple[bytes, list[bytes]]:
    """Header and blobs of hostile bytes; FrameRefused unless they are exactly one frame."""
    start = len(_MAGIC) + _COUNTS.size
    if len(data) < start or not data.startswith(_MAGIC):
        raise FrameRefused("the data does not start as a kerneljudge frame does")
    count, length = _COUNTS.unpack_from(data, len(_MAGIC))
    if count > limits.BLOBS or length > limits.PLAN_JSON_BYTES:
        raise FrameRefused(f"{count} blobs or a header of {length} bytes are too much")
    position = start + count * _LENGTH.size
    if len(data) < position:
        raise FrameRefused("the data is cut short")
    lengths = [_LENGTH.unpack_from(data, start + i * _LENGTH.size)[0] for i in range(count)]
    if position + length + sum(lengths) != len(data):
        raise FrameRefused("the lengths do not add up to the data's")
    header = data[position : position + length]
    position += length
    blobs = []
    for size in lengths:
        blobs.append(data[position : position + size])
        position += size
    return header, blobs
