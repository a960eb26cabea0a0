"""The entries of a board over time, with the line of its records and the hardware's limit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.pages.charts.scales import Scale, Tick
from app.pages.formats import microseconds
from app.schemas import BoardEntry, BoardHistory, HouseEntry

LEFT, RIGHT, TOP, BOTTOM = 64, 620, 14, 262
_MOST_POINTS = 300
_TICKS = 5


@dataclass(frozen=True)
class Entry:
    """One user's best."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Progress:
    """Time to the right, microseconds upwards and logarithmic."""

    line: str
    """A path: what was the best at each moment."""
    entries: tuple[Entry, ...]
    floor: float | None
    """Positions of the datasheet's limit and of the house entry."""
    house: float | None
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def progress(
    history: BoardHistory, entries: Sequence[BoardEntry], house: HouseEntry | None
) -> Progress | None:
    """None for a board without records."""
    if not history.records:
        return None
    entries = entries[:_MOST_POINTS]
    x = _time([r.finished_at for r in history.records] + [e.finished_at for e in entries])
    limits = [value for value in (history.floor, house and house.score) if value]
    y = _scores([r.score for r in history.records] + [e.score for e in entries] + limits)
    return Progress(
        line=_steps(history, x, y),
        entries=tuple(
            Entry(x(entry.finished_at.timestamp()), y(entry.score), _label(entry))
            for entry in entries
        ),
        floor=y(history.floor) if history.floor else None,
        house=y(house.score) if house else None,
        across=_days(x),
        up=y.ticks(lambda value: f"{value:g}"),
    )


def _time(moments: list[datetime]) -> Scale:
    first, last = min(moments).timestamp(), max(moments).timestamp()
    margin = max((last - first) * 0.03, 1800.0)
    return Scale(first - margin, last + margin, LEFT, RIGHT)


def _scores(values: list[float]) -> Scale:
    return Scale(min(values) / 1.15, max(values) * 1.15, BOTTOM, TOP, logarithmic=True)


def _steps(history: BoardHistory, x: Scale, y: Scale) -> str:
    first, *later = [(x(r.finished_at.timestamp()), y(r.score)) for r in history.records]
    return f"M{first[0]},{first[1]}" + "".join(f"H{a}V{b}" for a, b in later) + f"H{RIGHT}"


def _label(entry: BoardEntry) -> str:
    return f"{entry.user}: {microseconds(entry.score)} µs, {entry.finished_at:%Y-%m-%d}"


def _days(x: Scale) -> tuple[Tick, ...]:
    """Evenly spread; with the time of day where all is within two days."""
    step = (x.high - x.low) / _TICKS
    written = "%m-%d %H:%M" if x.high - x.low < 2 * 86_400 else "%Y-%m-%d"
    moments = [x.low + (n + 0.5) * step for n in range(_TICKS)]
    return tuple(Tick(x(m), f"{datetime.fromtimestamp(m, UTC):{written}}") for m in moments)
