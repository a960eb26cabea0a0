"""Reads what compute-sanitizer prints into typed errors and races.

The text is read as hostile input: a kernel's name stands in it.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from kernels.contract.inspection import MOST_FINDINGS, Access, AccessError, Race
from workers.inspection.marks import Progress, blocks

_INVALID = re.compile(r"Invalid (?:__(\w+)__ )?(\w+) of size ([\d,]+) bytes")
_AT = re.compile(r"at (.+?)(\+0x[0-9a-f]+)?(?: in (.+):(\d+))?$")
_BY = re.compile(r"by thread (\([\d,]+\)) in block (\([\d,]+\))")
_ACCESS = re.compile(r"(?:Access to|Address) 0x[0-9a-f]+ (is .+)")
_NEAR = re.compile(r"and is (.+?) the nearest allocation at 0x[0-9a-f]+ of size ([\d,]+) bytes")
_RACE = re.compile(
    r"(Error|Warning|Info): (?:Potential )?(?:Race|race|\w+ hazard).*? between (\w+) access (at .+)"
)
_RACE_WITH = re.compile(r"and (\w+) access (at .+?) \[([\d,]+) hazards?\]")
_SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: ([\d,]+)")
_SOURCE = "submission.py"
"""Name under which a submission is compiled; lines of other files are not the submission's."""

_NO_CASE = "unknown"
_KINDS = ("read", "write", "atomic")
_SEVERITIES: dict[str, Literal["error", "warning", "info"]] = {
    "Error": "error",
    "Warning": "warning",
    "Info": "info",
}


@dataclass(frozen=True)
class Sanitized:
    """What the tool reported."""

    errors: tuple[AccessError, ...]
    races: tuple[Race, ...]
    total: int
    """By its own count, or by ours if it did not come to its end."""
    ended: bool
    """Whether it came to its end."""
    progress: Progress


def read(output: str, cases: Collection[str]) -> Sanitized:
    """Everything in the output of one run on `cases`; lines that are nothing known are left out."""
    progress = Progress(cases)
    errors: dict[tuple[str, ...], AccessError] = {}
    races: list[Race] = []
    summary: int | None = None
    seen = 0
    for block in blocks(output, progress):
        found = _SUMMARY.match(block[0])
        if found:
            summary = _number(found[1])
        elif _INVALID.match(block[0]):
            seen += 1
            _add(errors, _error(block, progress))
        elif _RACE.match(block[0]):
            new = _races(block, progress)
            seen += len(new)
            races += new
    return Sanitized(
        tuple(list(errors.values())[:MOST_FINDINGS]),
        tuple(races[:MOST_FINDINGS]),
        max(seen, summary or 0),
        summary is not None,
        progress,
    )


def _add(errors: dict[tuple[str, ...], AccessError], error: AccessError) -> None:
    """Count an error that was seen before in another thread."""
    access = error.access
    key = (error.case, error.kernel, access.instruction, access.kind, error.reason)
    known = errors.get(key)
    errors[key] = error if known is None else known.model_copy(update={"count": known.count + 1})


def _error(block: list[str], progress: Progress) -> AccessError:
    head = _INVALID.match(block[0])
    assert head is not None  # read() has looked
    place, reason, distance, thread, grid_block = block[1] if len(block) > 1 else "", "", "", "", ""
    for line in block[1:]:
        if by := _BY.match(line):
            thread, grid_block = by[1], by[2]
        elif access := _ACCESS.match(line):
            reason = access[1]
        elif near := _NEAR.match(line):
            distance = f"{near[1]} an allocation of {near[2]} bytes"
    return AccessError(
        case=progress.case or _NO_CASE,
        kernel=(progress.kernel or _function(place))[:200],
        access=_access(head[2], place),
        space=head[1] or "global",
        nbytes=_number(head[3]),
        reason=reason[:200] or "is invalid",
        distance=distance[:200],
        thread=thread[:60],
        block=grid_block[:60],
    )


def _races(block: list[str], progress: Progress) -> list[Race]:
    head = _RACE.match(block[0])
    assert head is not None  # read() has looked
    first = _access(head[2], head[3])
    found = []
    for line in block[1:]:
        second = _RACE_WITH.match(line)
        if second:
            race = Race(
                case=progress.case or _NO_CASE,
                kernel=(progress.kernel or _function(head[3]))[:200],
                first=first,
                second=_access(second[1], second[2]),
                hazards=_number(second[3]),
                severity=_SEVERITIES[head[1]],
            )
            found.append(race)
    return found


def _access(word: str, place: str) -> Access:
    kind = word.lower()
    found = _AT.match(place)
    if found is None:
        return Access(kind=_kind(kind))
    line = int(found[4][:9]) if found[3] == _SOURCE and int(found[4][:9]) else None
    return Access(kind=_kind(kind), line=line, instruction=found[2] or "")


def _kind(word: str) -> Literal["read", "write", "atomic", "other"]:
    return word if word in _KINDS else "other"  # type: ignore[return-value]


def _function(place: str) -> str:
    found = _AT.match(place)
    return found[1].partition("(")[0] if found else "unknown"


def _number(text: str) -> int:
    return int(text.replace(",", "")[:18])
