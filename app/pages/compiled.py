"""A compiled kernel's texts, from the stored plan, line by line with the lines of the source.

They are what a compiler made of hostile source: bounded here, escaped by the template.
"""

import re
import zlib
from dataclasses import dataclass

from app.pages.listing import MOST_LINES
from kernels.contract import Bundle, limits
from kernels.contract.plan import Kernel, TextKind

KINDS: dict[TextKind, str] = {
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM IR",
    "ptx": "PTX",
    "sass": "SASS",
}
"""In the order of compilation."""

_SOURCE = "submission.py"
_MOST_READ = 60_000
"""Lines of a text that are looked at, those for debuggers included."""

_MOST_COLUMNS = 4_000
_NESTING = 32
"""Locations that refer to others; deeper ones have no line."""

_DEFINITION = re.compile(r"#(loc\d*) = loc\((.*)\)\s*")
_REFERENCE = re.compile(r"#(loc\d*)\b")
_PLACE = re.compile(r'"([^"]*)":(\d{1,9}):\d+')
_AT_END = re.compile(r" loc\(((?:#loc\d*)|(?:\"[^\"]*\":\d{1,9}:\d+)|unknown)\)\s*$")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d{1,9})\s+\d+(?:.*inlined_at\s+(\d+)\s+(\d{1,9}))?")
_LABEL = re.compile(r"\$L__tmp\d+:")


@dataclass(frozen=True)
class CompiledLine:
    """One line of a compiler's text."""

    text: str
    source: int | None
    """The line of the submission that it comes from; None where that is not known."""


@dataclass(frozen=True)
class Compiled:
    """A text, arranged for reading."""

    lines: tuple[CompiledLine, ...]
    left_out: int
    """How many lines at the end are not shown."""

    @property
    def sources(self) -> frozenset[int]:
        """Lines of the submission that something comes from."""
        return frozenset(line.source for line in self.lines if line.source is not None)


def text_of(bundle: Bundle, kernel: Kernel, kind: TextKind) -> str:
    """A kernel's text, cut at its limit; empty where there is none, or it cannot be unpacked."""
    packed = bundle.blobs.get(kernel.texts.get(kind, ""))
    if packed is None:
        return ""
    try:
        text = zlib.decompressobj().decompress(packed, limits.TEXT_BYTES)
    except zlib.error:
        return ""
    return text.decode("utf-8", "replace")


def arranged(kind: TextKind, text: str) -> Compiled:
    """Its lines without those that only say where others come from."""
    lines = text.split("\n", _MOST_READ)
    unread = lines.pop().count("\n") + 1 if len(lines) > _MOST_READ else 0
    lines = [line[:_MOST_COLUMNS] for line in lines]
    if kind in ("ttir", "ttgir"):
        known = _of_mlir(lines)
    elif kind == "ptx":
        known = _of_ptx(lines)
    else:
        known = [CompiledLine(line, None) for line in lines]
    while known and not known[-1].text.strip():
        known.pop()
    return Compiled(tuple(known[:MOST_LINES]), max(0, len(known) - MOST_LINES) + unread)


def _of_mlir(lines: list[str]) -> list[CompiledLine]:
    matches = (_DEFINITION.fullmatch(line) for line in lines)
    places = {match[1]: match[2] for match in matches if match}
    known: dict[str, int | None] = {}
    found = []
    for line in lines:
        if line.startswith("#loc"):
            continue
        at = _AT_END.search(line)
        source = _line_of(at[1], places, known, _NESTING) if at else None
        found.append(CompiledLine(line[: at.start()] if at else line, source))
    return found


def _line_of(
    place: str, places: dict[str, str], known: dict[str, int | None], depth: int
) -> int | None:
    """The first line of the submission that a location, or one it refers to, names."""
    direct = _PLACE.match(place)
    if direct:
        return int(direct[2]) if direct[1].endswith(_SOURCE) else None
    if depth == 0:
        return None
    for name in _REFERENCE.findall(place)[:8]:
        if name not in known:
            known[name] = None  # for those that refer to each other in a circle
            known[name] = _line_of(places.get(name, ""), places, known, depth - 1)
        if known[name] is not None:
            return known[name]
    return None


def _of_ptx(lines: list[str]) -> list[CompiledLine]:
    matches = (_FILE.match(line) for line in lines)
    ours = {match[1] for match in matches if match and match[3].endswith(_SOURCE)}
    found: list[CompiledLine] = []
    source: int | None = None
    for line in lines:
        if line.lstrip().startswith(".section\t.debug"):
            break
        at = _LOC.match(line)
        if at:
            source = _of_loc(at, ours)
        elif not _FILE.match(line) and not _LABEL.fullmatch(line.strip()):
            found.append(CompiledLine(line.replace("\t", "    "), source))
    return found


def _of_loc(at: re.Match[str], ours: set[str]) -> int | None:
    if at[1] in ours:
        return int(at[2])
    return int(at[4]) if at[3] in ours else None
