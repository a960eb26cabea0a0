"""How much longer each case takes in the second of two submissions."""

from dataclasses import dataclass

from app.comparing import Comparison
from app.pages.charts.scales import Scale, Tick

LEFT, RIGHT, TOP, STEP = 170, 620, 14, 26


@dataclass(frozen=True)
class RatioRow:
    """One case: a dot with its interval."""

    case: str
    y: float
    x: float
    low: float
    high: float
    tone: str
    """`good`: the second is surely faster; `bad`: surely slower; `same`."""


@dataclass(frozen=True)
class Ratios:
    """Logarithmic; to the left the second is faster."""

    rows: tuple[RatioRow, ...]
    equal: float
    """Position of 1."""
    ticks: tuple[Tick, ...]
    height: float


def ratios(comparison: Comparison) -> Ratios | None:
    """None where nothing was timed in both."""
    cases = comparison.cases
    if not cases:
        return None
    ends = [end for case in cases for end in (case.low, case.high)]
    # A scale that shows a tenth at least, so that equal kernels do not look far apart.
    x = Scale.linear([*ends, 0.95, 1.05], LEFT, RIGHT, zero=False)
    rows = tuple(
        RatioRow(
            case.case,
            TOP + n * STEP,
            x(case.ratio),
            x(case.low),
            x(case.high),
            "good" if case.high < 1 else "bad" if case.low > 1 else "same",
        )
        for n, case in enumerate(cases)
    )
    ticks = x.ticks(lambda value: f"{value:g}")
    return Ratios(rows, x(1.0), ticks, TOP + len(cases) * STEP)
