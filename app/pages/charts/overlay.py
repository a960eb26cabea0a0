"""The samples of two reports as histograms back to back, on one axis."""

from dataclasses import dataclass

from app.pages.charts.samples import histogram, middle
from app.pages.charts.scales import Scale, Tick
from app.pages.formats import microseconds
from kernels.contract import Report

LEFT, MIDDLE, RIGHT, TOP, BOTTOM = 52, 206, 352, 8, 112
_BINS = 26


@dataclass(frozen=True)
class Half:
    """A bin of one report's histogram."""

    x: float
    y: float
    width: float


@dataclass(frozen=True)
class Overlay:
    """One case: the first report to the left, the second to the right."""

    case: str
    first: tuple[Half, ...]
    second: tuple[Half, ...]
    height: float
    ticks: tuple[Tick, ...]


def overlays(first: Report, second: Report) -> tuple[Overlay, ...]:
    """Of every case that kept samples in both."""
    others = {case.case: middle(case.timing.samples) for case in second.cases if case.timing}
    found = []
    for case in first.cases:
        one = middle(case.timing.samples) if case.timing else []
        two = others.get(case.case, [])
        if one and two:
            found.append(_overlay(case.case, one, two))
    return tuple(found)


def _overlay(case: str, one: list[float], two: list[float]) -> Overlay:
    scale = Scale.linear([*one, *two], BOTTOM, TOP, zero=False)
    height = (BOTTOM - TOP) / _BINS
    left, right = histogram(one, scale, _BINS), histogram(two, scale, _BINS)
    room = MIDDLE - LEFT
    return Overlay(
        case,
        tuple(Half(round(MIDDLE - w * room, 2), y, round(w * room, 2)) for y, w in left),
        tuple(Half(MIDDLE, y, round(w * (RIGHT - MIDDLE), 2)) for y, w in right),
        round(height - 0.5, 2),
        scale.ticks(microseconds),
    )
