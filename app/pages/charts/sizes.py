"""Throughput and latency of the cases over their size, beside torch and the best known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.pages.charts.scales import Scale, Tick
from app.pages.formats import microseconds
from kernels.contract import Report, Timing

LEFT, RIGHT, TOP, BOTTOM = 64, 620, 14, 262
SERIES = ("this", "torch", "best", "house")
"""Whose times there may be; `best` is the board's first, `house` comes with the project."""


@dataclass(frozen=True)
class Dot:
    """One case of one series."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Series:
    """A line over the cases, the smallest first."""

    name: str
    points: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Panel:
    """Both axes logarithmic."""

    title: str
    unit: str
    series: tuple[Series, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


@dataclass(frozen=True)
class Sizes:
    """The same cases twice."""

    size: str
    """What counts as size, with its unit."""
    rate: Panel
    latency: Panel


@dataclass(frozen=True)
class _Case:
    name: str
    size: float
    """FLOPs, or bytes where the task counts none."""
    times: dict[str, float]
    """Microseconds by series."""


def sizes(report: Report, best: Mapping[str, float], house: Mapping[str, float]) -> Sizes | None:
    """`best`, `house`: microseconds by case. None with fewer than two sizes."""
    timed = [(case.case, case.timing) for case in report.cases if case.timing is not None]
    in_flops = all(timing.flops_per_second for _, timing in timed)
    cases = sorted(
        (_case(name, timing, in_flops, best, house) for name, timing in timed),
        key=lambda case: case.size,
    )
    if len({case.size for case in cases}) < 2:
        return None
    x = Scale.powers([case.size for case in cases], LEFT, RIGHT)
    scaled, unit = (1e6, "TFLOP/s") if in_flops else (1e3, "GB/s")
    rates = {
        case.name: {n: case.size / us / scaled for n, us in case.times.items()} for case in cases
    }
    times = {case.name: case.times for case in cases}
    return Sizes(
        size="FLOPs" if in_flops else "bytes",
        rate=_panel("Throughput", unit, x, cases, rates),
        latency=_panel("Latency", "µs", x, cases, times),
    )


def _case(
    name: str,
    timing: Timing,
    in_flops: bool,
    best: Mapping[str, float],
    house: Mapping[str, float],
) -> _Case:
    rate = timing.flops_per_second if in_flops else timing.bytes_per_second
    known = (timing.microseconds, timing.torch_microseconds, best.get(name), house.get(name))
    times = {series: us for series, us in zip(SERIES, known, strict=True) if us}
    return _Case(name, round(rate * timing.microseconds / 1e6), times)


def _panel(
    title: str, unit: str, x: Scale, cases: list[_Case], values: Mapping[str, Mapping[str, float]]
) -> Panel:
    y = Scale.powers([v for by_series in values.values() for v in by_series.values()], BOTTOM, TOP)
    return Panel(
        title,
        unit,
        tuple(_series(x, y, unit, cases, values)),
        x.ticks(_short),
        y.ticks(lambda value: f"{value:g}"),
    )


def _series(
    x: Scale, y: Scale, unit: str, cases: list[_Case], values: Mapping[str, Mapping[str, float]]
) -> Iterator[Series]:
    for name in SERIES:
        dots = tuple(
            Dot(
                x(case.size),
                y(values[case.name][name]),
                f"{case.name}, {name}: {microseconds(values[case.name][name])} {unit}",
            )
            for case in cases
            if name in values[case.name]
        )
        if dots:
            yield Series(name, " ".join(f"{dot.x},{dot.y}" for dot in dots), dots)


def _short(value: float) -> str:
    """A round number with an SI prefix."""
    for power, prefix in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= power:
            return f"{value / power:g}{prefix}"
    return f"{value:g}"
