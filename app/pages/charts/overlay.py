"""The samples of two reports as histograms laid over each other, on the same axes."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.pages.charts.samples import counts, middle
from app.pages.charts.scales import Scale, Tick
from app.pages.formats import microseconds
from kernels.contract import Report

LEFT, RIGHT, TOP, BOTTOM = 12, 348, 8, 104
_BINS = 42


@dataclass(frozen=True)
class Overlay:
    """One case: a path around each report's bins, in shares of its own samples."""

    case: str
    first: str
    second: str
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
    scale = Scale.linear([*one, *two], LEFT, RIGHT, zero=False)
    first, second = (_shares(values, scale) for values in (one, two))
    most = max(*first, *second)
    return Overlay(
        case,
        _path(share / most for share in first),
        _path(share / most for share in second),
        scale.ticks(microseconds),
    )


def _shares(values: list[float], scale: Scale) -> list[float]:
    return [count / len(values) for count in counts(values, scale, _BINS)]


def _path(heights: Iterable[float]) -> str:
    width = (RIGHT - LEFT) / _BINS
    steps = (
        f"V{BOTTOM - height * (BOTTOM - TOP):.1f}H{LEFT + (n + 1) * width:.1f}"
        for n, height in enumerate(heights)
    )
    return f"M{LEFT},{BOTTOM}" + "".join(steps) + f"V{BOTTOM}"
