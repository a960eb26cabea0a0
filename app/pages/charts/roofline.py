"""Where each case stands below the hardware's limits.

The roofline model: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009. A case with FLOPs
is a point at its FLOPs per byte; the roof is the smaller of bandwidth times that, and the peak
rate. A task without FLOPs has bandwidth alone, so its cases are bars below it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from app.pages.charts.scales import Scale, Tick
from app.pages.formats import giga, significant, tera
from kernels.contract import DEVICES, CaseResult, Report, Timing
from kernels.contract.device import Rate

LEFT, RIGHT, TOP, BOTTOM = 64, 620, 14, 262
WIDTH, HEIGHT = 640, 304
BAR_LEFT, BAR_STEP = 170, 26
_LETTER, _LINE = 7.0, 14
"""Width and height of a letter of a case's name."""


@dataclass(frozen=True)
class Roof:
    """A limit: a slope of the memory and a flat of the arithmetic."""

    name: str
    kind: str
    """`datasheet` or `measured`."""
    line: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Point:
    """One benchmark case."""

    case: str
    x: float
    y: float
    label: str
    """Its figures in words."""
    name_x: float
    name_y: float
    """Its name's middle."""


@dataclass(frozen=True)
class Roofline:
    """Points below roofs, both axes logarithmic."""

    roofs: tuple[Roof, ...]
    points: tuple[Point, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


@dataclass(frozen=True)
class Bar:
    """One benchmark case of a task without FLOPs."""

    case: str
    y: float
    width: float
    label: str


@dataclass(frozen=True)
class Bandwidth:
    """Bars of bytes per second, and the limits as lines across them."""

    bars: tuple[Bar, ...]
    limits: tuple[tuple[str, str, float], ...]
    """Kind, name and position of each."""
    ticks: tuple[Tick, ...]
    height: float


def roofline(report: Report, rate: Rate) -> Roofline | None:
    """None unless every timed case counts FLOPs and bytes."""
    timed = _timed(report)
    if not timed or any(not t.flops_per_second or not t.bytes_per_second for _, t in timed):
        return None
    limits = list(_limits(report, rate))
    intensities = [t.flops_per_second / t.bytes_per_second for _, t in timed]
    knees = [peak / bandwidth for _, _, bandwidth, peak in limits if peak]
    rates = [t.flops_per_second for _, t in timed]
    x = Scale.powers([*intensities, *knees], LEFT, RIGHT)
    y = Scale.powers([*rates, *(peak for *_, peak in limits if peak)], BOTTOM, TOP)
    return Roofline(
        roofs=tuple(Roof(n, k, _roof(x, y, b, p)) for k, n, b, p in limits if p),
        points=_points(timed, x, y),
        across=x.ticks(lambda value: f"{value:g}"),
        up=y.ticks(lambda value: f"{value / 1e12:g}"),
    )


def _points(timed: list[tuple[CaseResult, Timing]], x: Scale, y: Scale) -> tuple[Point, ...]:
    points: list[Point] = []
    for case, timing in timed:
        intensity = timing.flops_per_second / timing.bytes_per_second
        at = x(intensity), y(timing.flops_per_second)
        label = (
            f"{case.case}: {tera(timing.flops_per_second)} TFLOP/s at "
            f"{significant(intensity)} FLOP/byte"
        )
        middle = min(at[0], RIGHT - _half(case.case))
        below = _free_line(case.case, middle, at[1] + _LINE + 4, points)
        points.append(Point(case.case, at[0], at[1], label, round(middle, 2), below))
    return tuple(points)


def _free_line(name: str, x: float, y: float, points: list[Point]) -> float:
    """The first line from `y` down on which a name meets none of those that stand already."""
    taken = [
        point.name_y
        for point in points
        if abs(point.name_x - x) < _half(name) + _half(point.case) + _LETTER
    ]
    while any(abs(y - other) < _LINE for other in taken):
        y += 1
    return round(y, 2)


def _half(name: str) -> float:
    return _LETTER * len(name) / 2


def bandwidth(report: Report, rate: Rate) -> Bandwidth | None:
    """None where nothing was timed."""
    timed = _timed(report)
    if not timed:
        return None
    limits = list(_limits(report, rate))
    values = [t.bytes_per_second for _, t in timed] + [b for _, _, b, _ in limits]
    x = Scale.linear(values, BAR_LEFT, RIGHT, zero=True)
    return Bandwidth(
        bars=tuple(
            Bar(
                case.case,
                TOP + row * BAR_STEP,
                round(x(timing.bytes_per_second) - BAR_LEFT, 2),
                f"{case.case}: {giga(timing.bytes_per_second)} GB/s",
            )
            for row, (case, timing) in enumerate(timed)
        ),
        limits=tuple((kind, name, x(value)) for kind, name, value, _ in limits),
        ticks=x.ticks(lambda value: f"{value / 1e12:g}"),
        height=TOP + len(timed) * BAR_STEP,
    )


def _timed(report: Report) -> list[tuple[CaseResult, Timing]]:
    return [(case, case.timing) for case in report.cases if case.timing is not None]


def _limits(report: Report, rate: Rate) -> Iterator[tuple[str, str, float, float | None]]:
    """Kind, name, bytes per second and FLOPs per second of each roof."""
    device = DEVICES[report.device]
    yield "datasheet", "datasheet", device.bandwidth, device.nominal_peak[rate]
    if report.ceilings is not None:
        yield (
            "measured",
            "this GPU, when its worker started",
            report.ceilings.copy_bytes_per_second,
            report.ceilings.matmul_flops_per_second if rate == "tensor16" else None,
        )


def _roof(x: Scale, y: Scale, bandwidth: float, peak: float) -> tuple[tuple[float, float], ...]:
    """From where the slope enters the drawing, over the knee, to its right border."""
    knee = peak / bandwidth
    enters = max(x.low, y.low / bandwidth)
    start = (x(enters), y(min(enters * bandwidth, peak)))
    return (start, (x(knee), y(peak)), (x(x.high), y(peak)))
