"""The SM clock and the power over the rounds of each case."""

from dataclasses import dataclass

from app.pages.charts.scales import Scale, Tick
from kernels.contract import Report, Sensed

LEFT, RIGHT, TOP, BOTTOM = 52, 352, 8, 80


@dataclass(frozen=True)
class Clocks:
    """One case; megahertz upwards, rounds to the right."""

    case: str
    line: str
    """A path."""
    ticks: tuple[Tick, ...]
    count: int
    """Readings."""
    rounds: int
    lowest: float
    """Megahertz."""
    highest: float
    lowest_power: float
    """Watts."""
    highest_power: float


def clocks(report: Report) -> tuple[Clocks, ...]:
    """Of every timed case with two readings at least."""
    return tuple(
        _clocks(case.case, case.timing.sensed)
        for case in report.cases
        if case.timing is not None and len(case.timing.sensed) > 1
    )


def _clocks(case: str, sensed: tuple[Sensed, ...]) -> Clocks:
    rates = [one.clock_hz / 1e6 for one in sensed]
    powers = [one.power_watts for one in sensed]
    # At least 100 MHz high, so that a steady clock looks steady.
    y = Scale.linear([*rates, max(rates) - 100], BOTTOM, TOP, zero=False)
    x = Scale(sensed[0].round, max(sensed[-1].round, sensed[0].round + 1), LEFT, RIGHT)
    points = (f"{x(one.round)},{y(rate)}" for one, rate in zip(sensed, rates, strict=True))
    return Clocks(
        case=case,
        line="M" + " L".join(points),
        ticks=y.ticks(lambda value: f"{value:g}"),
        count=len(sensed),
        rounds=sensed[-1].round + 1,
        lowest=min(rates),
        highest=max(rates),
        lowest_power=min(powers),
        highest_power=max(powers),
    )
