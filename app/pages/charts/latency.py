"""Each benchmark case's latency beside torch's and the best of the board's, as ratios to torch."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.pages.charts.scales import Scale, Tick
from app.pages.formats import microseconds, significant
from kernels.contract import Report, Timing

LEFT, RIGHT, TOP, STEP, WIDTH = 170, 620, 14, 26, 640


@dataclass(frozen=True)
class Row:
    """One case: a dot with its interval, and what it is compared with."""

    case: str
    y: float
    x: float
    low: float
    high: float
    best: float | None
    """Of the board's first entry."""
    label: str


@dataclass(frozen=True)
class Latencies:
    """Speed as multiples of torch's, on a logarithmic axis; to the right is faster."""

    rows: tuple[Row, ...]
    torch: float
    """Position of torch: 1."""
    ticks: tuple[Tick, ...]
    height: float


def latencies(report: Report, best: Mapping[str, float]) -> Latencies | None:
    """`best`: microseconds of the board's first by case. None where torch was not measured."""
    timed = [
        (case.case, case.timing, case.timing.torch_microseconds)
        for case in report.cases
        if case.timing is not None and case.timing.torch_microseconds
    ]
    if not timed:
        return None
    ends = [torch / t for _, timing, torch in timed for t in (timing.low, timing.high)]
    others = [torch / best[case] for case, _, torch in timed if case in best]
    x = Scale.powers([*ends, *others, 1.0], LEFT, RIGHT)
    rows = tuple(
        Row(
            case,
            TOP + n * STEP,
            x(torch / timing.microseconds),
            x(torch / timing.high),
            x(torch / timing.low),
            x(torch / best[case]) if case in best else None,
            _label(case, timing, torch),
        )
        for n, (case, timing, torch) in enumerate(timed)
    )
    ticks = x.ticks(lambda value: f"{value:g}")
    return Latencies(rows, x(1.0), ticks, TOP + len(timed) * STEP)


def _label(case: str, timing: Timing, torch: float) -> str:
    return (
        f"{case}: {microseconds(timing.microseconds)} µs, torch {microseconds(torch)} µs, "
        f"{significant(torch / timing.microseconds)} times as fast"
    )
