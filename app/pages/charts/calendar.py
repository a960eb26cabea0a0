"""A year of submissions: a square for each day, a column for each week."""

from dataclasses import dataclass
from datetime import date, timedelta

from app.activity import Activity
from app.pages.charts.scales import Tick

LEFT, TOP, STEP = 30, 18, 12
_STEPS = (1, 3, 6, 12)
"""Submissions from which on a day is drawn darker."""


@dataclass(frozen=True)
class Square:
    """One day."""

    x: int
    y: int
    level: int
    """From 0, no submission, to 4."""
    label: str


@dataclass(frozen=True)
class Week:
    """A row of the table beside it."""

    monday: date
    submissions: int
    passed: int


@dataclass(frozen=True)
class Calendar:
    """Squares, and the same by week."""

    squares: tuple[Square, ...]
    months: tuple[Tick, ...]
    weeks: tuple[Week, ...]
    """Those with submissions, the latest first."""
    width: int


def calendar(activity: Activity, today: date) -> Calendar:
    """From the activity's first day to today."""
    known = {day.date: day for day in activity.days}
    count = (today - activity.first_day).days + 1
    days = [activity.first_day + timedelta(days=n) for n in range(count)]
    start = _monday(days[0])
    squares = []
    weeks: dict[date, tuple[int, int]] = {}
    for day in days:
        made, passed = (known[day].submissions, known[day].passed) if day in known else (0, 0)
        x = LEFT + (_monday(day) - start).days // 7 * STEP
        label = f"{day}: {made} submitted, {passed} right"
        level = sum(made >= step for step in _STEPS)
        squares.append(Square(x, TOP + day.weekday() * STEP, level, label))
        if made:
            before = weeks.get(_monday(day), (0, 0))
            weeks[_monday(day)] = before[0] + made, before[1] + passed
    months = tuple(
        Tick(LEFT + (_monday(day) - start).days // 7 * STEP, f"{day:%b}")
        for day in days
        if day.day == 1
    )
    rows = tuple(Week(monday, *weeks[monday]) for monday in sorted(weeks, reverse=True))
    return Calendar(tuple(squares), months, rows, squares[-1].x + STEP)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
