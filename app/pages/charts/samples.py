"""The raw samples of a case: in the order they were taken, and how often each latency came."""

from dataclasses import dataclass

from app.pages.charts.scales import Scale, Tick
from app.pages.formats import microseconds
from kernels.contract import Report

WIDTH, HEIGHT = 360, 96
LEFT, SERIES_END, BARS_START, BARS_END = 52, 260, 268, 352
TOP, BOTTOM = 8, 80
_BINS = 18
_MOST_POINTS = 240
_TAIL = 0.01


@dataclass(frozen=True)
class Band:
    """One bin of the histogram, lying on its side."""

    y: float
    width: float


@dataclass(frozen=True)
class Samples:
    """One case's samples."""

    case: str
    count: int
    series: str
    """A path over the rounds."""
    bands: tuple[Band, ...]
    band_height: float
    ticks: tuple[Tick, ...]
    low: float
    """Position of the ends of the 95 % interval of the result; beyond the border if corrected."""
    high: float
    outside: int
    """Samples beyond the drawing, above or below."""


def samples(report: Report) -> tuple[Samples, ...]:
    """Of every timed case that kept its samples."""
    return tuple(
        _samples(case.case, case.timing.samples, case.timing.low, case.timing.high)
        for case in report.cases
        if case.timing is not None and len(case.timing.samples) > 1
    )


def _samples(case: str, values: tuple[float, ...], low: float, high: float) -> Samples:
    shown = middle(values)
    scale = Scale.linear([*shown, low, high], BOTTOM, TOP, zero=False)
    height = (BOTTOM - TOP) / _BINS
    return Samples(
        case=case,
        count=len(values),
        series=_path(values, scale),
        bands=_bands(shown, scale),
        band_height=round(height - 0.5, 2),
        ticks=scale.ticks(microseconds),
        low=scale(low),
        high=scale(high),
        outside=len(values) - len(shown),
    )


def middle(values: tuple[float, ...]) -> list[float]:
    """Without the outermost hundredth at each end, so that one outlier does not flatten all."""
    cut = int(len(values) * _TAIL)
    return sorted(values)[cut : len(values) - cut]


def _path(values: tuple[float, ...], scale: Scale) -> str:
    every = 1 + (len(values) - 1) // _MOST_POINTS
    picked = values[::every]
    step = (SERIES_END - LEFT) / max(len(picked) - 1, 1)
    points = (f"{LEFT + n * step:.1f},{scale(value)}" for n, value in enumerate(picked))
    return "M" + " L".join(points)


def counts(values: list[float], scale: Scale, bins: int) -> list[int]:
    """How many values lie in each bin along a scale, the first bin nearest to the origin."""
    edge = min(scale.start, scale.end)
    width = abs(scale.end - scale.start) / bins
    found = [0] * bins
    for value in values:
        found[min(int((scale(value) - edge) / width), bins - 1)] += 1
    return found


def _bands(values: list[float], scale: Scale) -> tuple[Band, ...]:
    found, room = counts(values, scale, _BINS), BARS_END - BARS_START
    height, most = (BOTTOM - TOP) / _BINS, max(found)
    return tuple(
        Band(round(TOP + row * height, 2), round(count / most * room, 2))
        for row, count in enumerate(found)
        if count
    )
