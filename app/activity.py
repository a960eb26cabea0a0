"""What the caller has done: places on boards, and submissions by day."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from app import clock
from app.schemas import BoardEntry, Schema
from app.service import Service
from app.store import activity
from kernels.contract import DeviceName

_DAYS = 371
"""53 weeks."""

_MOST_PLACES = 1000


class Day(Schema):
    """One day in UTC with at least one submission."""

    date: date
    submissions: int
    passed: int
    """Of them, those that were right."""


class OwnPlace(Schema):
    """A board that one stands on."""

    task: str
    device: DeviceName
    total: int
    """Users on the board."""
    entry: BoardEntry | None
    """None beyond the first thousand."""


class Activity(Schema):
    """A user's year."""

    user: str
    first_day: date
    """From when on days are counted."""
    days: tuple[Day, ...]
    """Oldest first; those without submissions are left out."""
    places: tuple[OwnPlace, ...]
    """By task; of present versions of tasks and the present clock."""


def activity_of(service: Service) -> Activity:
    """Of the caller; Unauthorised for nobody."""
    user = service.caller.name
    first = clock.now().date() - timedelta(days=_DAYS - 1)
    start = clock.now() - timedelta(days=_DAYS)
    with service.store.read() as session:
        rows = activity.since(session, user, start)
        boards = activity.boards(session, user)
    made = Counter(at.date() for at, _ in rows)
    passed = Counter(at.date() for at, verdict in rows if verdict is not None and verdict.passed)
    return Activity(
        user=user,
        first_day=first,
        days=tuple(
            Day(date=day, submissions=made[day], passed=passed[day])
            for day in sorted(made)
            if day >= first
        ),
        places=tuple(_places(service, user, boards)),
    )


def _places(
    service: Service, user: str, boards: Sequence[tuple[str, int, DeviceName]]
) -> Iterator[OwnPlace]:
    for task, version, device in boards:
        folder = service.catalog.get(task)
        if folder is None or folder.task.version != version:
            continue
        board = service.board(task, device, limit=_MOST_PLACES)
        own = next((entry for entry in board.entries if entry.user == user), None)
        yield OwnPlace(task=task, device=device, total=board.total, entry=own)
