"""SASS of compiled kernels, and the instructions in it."""

import hashlib
import re
import subprocess
import time
import zlib
from collections import Counter
from pathlib import Path

from triton import knobs

from kernels.contract import InstructionMix, elf, limits

_LINE = re.compile(r"^\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*;")
_PREDICATE = re.compile(r"^@!?U?P\w+\s+")
_BRANCHES = ("BRA", "BSSY", "CALL", "JMP")
_TARGET = re.compile(r"\b0x([0-9a-f]+)$")
_BYTES = {"U8": "1", "S8": "1", "U16": "2", "S16": "2", "64": "8", "128": "16"}
_COMPRESSION = 1


def disassemble(cubins: list[bytes], folder: Path, deadline: float) -> dict[str, str]:
    """SASS by digest of the cubin; empty if there is no disassembler or no time.

    All code goes through one call: the disassembler's start costs far more than its work.
    """
    codes = {hashlib.sha256(cubin).hexdigest(): _code(cubin) for cubin in cubins}
    file = folder / "code.bin"
    file.write_bytes(b"".join(codes.values()))
    command = [str(knobs.nvidia.nvdisasm.path), "--binary", "SM90a", str(file)]
    left = deadline - time.monotonic()
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=left, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return _split(done.stdout, {sha: len(code) for sha, code in codes.items()})


def mix(listing: str) -> InstructionMix:
    """Counts of the instructions in a listing."""
    counts: Counter[str] = Counter()
    loads: Counter[str] = Counter()
    stores: Counter[str] = Counter()
    for line in listing.splitlines():
        operation = _PREDICATE.sub("", line.split(None, 1)[1]).split(None, 1)[0]
        name, *modifiers = operation.split(".")
        counts[_KINDS.get(name, "tma" if name.startswith("UTMA") else "other")] += 1
        if name in ("LDG", "STG"):
            width = next((_BYTES[m] for m in modifiers if m in _BYTES), "4")
            (loads if name == "LDG" else stores)[width] += 1
    return InstructionMix.model_validate(
        {
            **{kind: counts[kind] for kind in ("wgmma", "mma", "tma", "async_copies")},
            **{kind: counts[kind] for kind in ("local", "special")},
            "total": counts.total(),
            "loads": dict(loads),
            "stores": dict(stores),
        }
    )


def compressed(listing: str) -> bytes:
    """A listing as it is kept in a plan."""
    return zlib.compress(listing.encode()[: limits.TEXT_BYTES], _COMPRESSION)


_KINDS = {
    **dict.fromkeys(("HGMMA", "QGMMA", "IGMMA", "BGMMA"), "wgmma"),
    **dict.fromkeys(("HMMA", "QMMA", "IMMA", "BMMA", "DMMA"), "mma"),
    **dict.fromkeys(("LDL", "STL"), "local"),
    "LDGSTS": "async_copies",
    "UBLKCP": "tma",
    "MUFU": "special",
}


def _code(cubin: bytes) -> bytes:
    return b"".join(s.data for s in elf.read(cubin).sections if s.name.startswith(".text."))


def _split(text: str, sizes: dict[str, int]) -> dict[str, str]:
    """One listing per kernel, with addresses that begin at 0."""
    listings: dict[str, list[str]] = {sha: [] for sha in sizes}
    ends = iter(sizes.items())
    sha, base, end = "", 0, 0
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        address = int(found[1], 16)
        while address >= end:
            sha, size = next(ends)
            base, end = end, end + size
        listings[sha].append(f"{address - base:05x}  {_moved(found[2], base)}")
    return {sha: "\n".join(lines) + "\n" for sha, lines in listings.items() if lines}


def _moved(instruction: str, base: int) -> str:
    if base and any(branch in instruction for branch in _BRANCHES):
        return _TARGET.sub(lambda found: hex(int(found[1], 16) - base), instruction)
    return instruction
