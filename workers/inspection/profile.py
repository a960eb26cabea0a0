"""Reads the counters that Nsight Compute writes as CSV into profiles of launches.

The table has a line of names, one of units, and one for each launch, in order.
"""

import csv
import io
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kernels.contract.compiler import Limit
from kernels.contract.inspection import MOST_FINDINGS, KernelProfile, Stall
from workers.inspection import counters
from workers.inspection.findings import findings
from workers.inspection.marks import Progress

_KERNEL = "Kernel Name"
_SECTOR_BYTES = 32
_LEAST_STALL = 0.01
"""Share below which a reason is not worth a line."""

_NOT_PERMITTED = "ERR_NVGPUCTRPERM"
_REFUSALS = {
    _NOT_PERMITTED: (
        "the driver does not let the tool's user read the GPU's counters: load it with "
        "NVreg_RestrictProfilingToAdminUsers=0 on the measuring host"
    ),
    "LibraryNotLoaded": (
        "the tool cannot load its profiling library on the measuring host: counters cannot be "
        "read in a sandbox such as gVisor"
    ),
    "is already in use by another": "another profiler has the GPU's counters: end it",
}


@dataclass(frozen=True)
class Profiled:
    """What the tool measured."""

    profiles: tuple[KernelProfile, ...]
    total: int
    """Launches that it measured."""
    progress: Progress
    refusal: str
    """Why counters could not be read; empty if they could."""


def read(output: str, table: str, cases: Collection[str]) -> Profiled:
    """Profiles from what tool and replay printed, and from the CSV that the tool wrote."""
    progress = Progress(cases)
    for line in output.splitlines():
        progress.take(line)
    rows = list(_rows(table))
    launches = progress.launches[: len(rows)]
    if [row[_KERNEL] for row in rows] != [kernel for _, kernel in launches]:
        rows, launches = [], []  # not the launches that were announced: nothing can be told apart
    profiles = [_profile(case, row) for (case, _), row in zip(launches, rows, strict=True)]
    said = output + table
    refusal = next((text for sign, text in _REFUSALS.items() if sign in said), "")
    return Profiled(tuple(profiles[:MOST_FINDINGS]), len(profiles), progress, refusal)


def _rows(table: str) -> Iterator[Mapping[str, str]]:
    lines = (line for line in table.splitlines() if line.startswith('"'))
    try:
        found = list(csv.reader(io.StringIO("\n".join(lines))))
    except csv.Error:
        return
    if len(found) < 3 or _KERNEL not in found[0]:
        return
    names = found[0]
    for row in found[2:]:
        if len(row) == len(names):
            yield dict(zip(names, row, strict=True))


def _profile(case: str, row: Mapping[str, str]) -> KernelProfile:
    def number(name: str) -> float | None:
        return _number(row.get(name, ""))

    shares = {name: _scaled(number(metric), 0.01) for name, metric in counters.SHARES.items()}
    sectors = {
        name: _ratio(number(of), number(per)) for name, (of, per) in counters.REQUESTS.items()
    }
    used = {
        # Nought where no plain load or store moved anything, as with asynchronous copies.
        name: _scaled(number(metric), 1 / _SECTOR_BYTES) or None
        for name, metric in counters.USED_BYTES.items()
    }
    profile = KernelProfile(
        case=case,
        kernel=row[_KERNEL][:200],
        microseconds=_scaled(number(counters.NANOSECONDS), 1e-3),
        waves=number(counters.WAVES),
        limited_by=_limits({name: number(m) for name, m in counters.BLOCK_LIMITS.items()}),
        bank_conflicts=_ratio(
            _sum(map(number, counters.CONFLICTS)), _sum(map(number, counters.WAVEFRONTS))
        ),
        stalls=_stalls({name: number(metric) for name, metric in counters.STALLS.items()}),
        **shares,
        **sectors,
        **used,
    )
    return profile.model_copy(update={"findings": findings(profile)})


def _limits(blocks: Mapping[str, float | None]) -> tuple[Limit, ...]:
    known = {name: count for name, count in blocks.items() if count is not None}
    least = min(known.values(), default=None)
    return tuple(name for name, count in known.items() if count == least)  # type: ignore[misc]


def _stalls(warps: Mapping[str, float | None]) -> tuple[Stall, ...]:
    known = {name: count for name, count in warps.items() if count}
    whole = sum(known.values())
    shares = sorted(((count / whole, name) for name, count in known.items()), reverse=True)
    return tuple(Stall(reason=name, share=share) for share, name in shares if share >= _LEAST_STALL)


def _number(text: str) -> float | None:
    """None for what is no number, such as n/a; counters below zero are noise around it."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return max(value, 0.0) if math.isfinite(value) else None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _ratio(of: float | None, per: float | None) -> float | None:
    return None if of is None or not per else of / per


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
