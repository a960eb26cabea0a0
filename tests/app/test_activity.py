"""What one has done, and its calendar."""

from datetime import date

from app import clock
from app.accounts import Caller
from app.accounts.callers import scopes_of
from app.activity import Activity, Day, activity_of
from app.main import Parts
from app.pages.charts.calendar import calendar
from app.roles import Role
from tests.app.judging import beat, judge, submit


def test_places_and_days_are_ones_own(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")
    best = judge(parts, "ada", 10.0).id
    judge(parts, "ada", 20.0)
    judge(parts, "bob", 9.0)
    submit(parts, "ada")
    found = activity_of(parts.service.on_behalf_of(Caller("ada", scopes_of(Role.PARTICIPANT))))
    assert found.days == (Day(date=clock.now().date(), submissions=3, passed=2),)
    (place,) = found.places
    assert (place.task, place.total) == ("softmax", 2)
    assert place.entry is not None
    assert (place.entry.rank, place.entry.submission) == (2, best)
    nobody = activity_of(parts.service.on_behalf_of(Caller("cyd", scopes_of(Role.PARTICIPANT))))
    assert (nobody.days, nobody.places) == ((), ())


def test_a_year_is_drawn_by_weeks() -> None:
    first, today = date(2025, 11, 25), date(2026, 11, 30)
    days = (
        Day(date=date(2026, 11, 29), submissions=2, passed=1),  # a Sunday
        Day(date=today, submissions=12, passed=0),
    )
    drawn = calendar(Activity(user="ada", first_day=first, days=days, places=()), today)
    assert len(drawn.squares) == 371
    sunday, monday = drawn.squares[-2:]
    assert (sunday.level, monday.level) == (1, 4)
    assert monday.x - sunday.x == 12
    assert sunday.y - monday.y == 6 * 12
    assert [(w.monday, w.submissions, w.passed) for w in drawn.weeks] == [
        (today, 12, 0),
        (date(2026, 11, 23), 2, 1),
    ]
    assert [month.label for month in drawn.months][:2] == ["Dec", "Jan"]
