"""Changes to fuzzer inputs that keep them frames: JSON stays JSON, and digests stay right."""

import hashlib
import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

from kernels.contract import frame
from tests.hostile.test_plans import NUMBERS, WORDS, changed, places

_HOW = ("set", "set", "set", "remove", "double", "move")
_MOST_CHANGES = 4

Bytes = Callable[[bytes, int], bytes]
"""Changes any bytes, up to a size."""


def mutate(data: bytes, most: int, seed: int, raw: Bytes) -> bytes:
    """Another input made of `data`, of at most `most` bytes."""
    chance = random.Random(seed)
    if chance.random() < 0.1:
        return raw(data, most)
    try:
        header, blobs = frame.unpack(data[1:])
        document = json.loads(header)
    except (ValueError, RecursionError):
        return raw(data, most)
    if not isinstance(document, dict) or not document:
        return raw(data, most)
    if blobs and chance.random() < 0.4:
        document, blobs = _other_blob(document, blobs, chance, raw)
    else:
        document = _other_document(document, chance, raw)
    try:
        found = data[:1] + frame.pack(json.dumps(document), blobs)
    except (UnicodeEncodeError, struct.error):
        return raw(data, most)
    return found if len(found) <= most else raw(data, most)


def _other_document(document: Any, chance: random.Random, raw: Bytes) -> Any:
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        where = list(places(document))
        if not isinstance(document, dict) or not where:
            return {}
        path = chance.choice(where)
        document = changed(
            document, path, chance.choice(_HOW), _value(document, path, where, chance, raw)
        )
    return document


def _value(
    document: Any,
    path: tuple[Any, ...],
    where: Sequence[tuple[Any, ...]],
    chance: random.Random,
    raw: Bytes,
) -> Any:
    """What to put at a place: near the old value, from elsewhere in the document, or evil."""
    old, other = _at(document, path), _at(document, chance.choice(where))
    match chance.randrange(6):
        case 0:
            return other
        case 1 if isinstance(old, int):
            return old + chance.choice((-1, 1, 8, 1 << chance.randrange(66)))
        case 2 if isinstance(old, str):
            return raw(old.encode(errors="replace")[:200], 256).decode(errors="replace")
        case 3 if isinstance(old, list):
            return old * chance.randrange(4)
        case 4:
            return chance.choice(NUMBERS)
    return chance.choice((*WORDS, None, True, [], {}, [[]], float("nan"), {"kind": "op"}))


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def _other_blob(
    document: Any, blobs: list[bytes], chance: random.Random, raw: Bytes
) -> tuple[Any, list[bytes]]:
    """One blob changed under its right digest, so that what reads it gets to see it."""
    place = chance.randrange(len(blobs))
    old = blobs[place]
    new = _patched(old, chance) if old and chance.random() < 0.7 else raw(old, len(old) + 64)
    was, becomes = (hashlib.sha256(blob).hexdigest() for blob in (old, new))
    text = json.dumps(document).replace(was, becomes)
    return json.loads(text), [*blobs[:place], new, *blobs[place + 1 :]]


def _patched(blob: bytes, chance: random.Random) -> bytes:
    """Some fields overwritten: in the head, in a table at the end, or anywhere."""
    patched = bytearray(blob)
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        width = chance.choice((1, 2, 4, 8))
        start = chance.choice(
            (chance.randrange(64), -chance.randrange(1, 2048), chance.getrandbits(20))
        )
        start %= len(patched)
        value = chance.choice((0, 1, (1 << 8 * width) - 1, chance.getrandbits(8 * width)))
        patched[start : start + width] = value.to_bytes(width, "little")
    return bytes(patched)
