"""Whose turn it is: of what waits, one submission of each user, then the next of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, TextClause, func, select, text, update
from sqlalchemy.orm import Session

from app.store.tables import UNFINISHED, SubmissionRow, TurnRow
from kernels.contract import DeviceName, Stage

Condition = ColumnElement[bool] | TextClause

_LOCK = 7_250_135
_WAITS = (UNFINISHED, SubmissionRow.released.is_(False))
_IN_FLIGHT = (UNFINISHED, SubmissionRow.released.is_(True))


class Lane(NamedTuple):
    """Submissions that wait for the same workers."""

    device: DeviceName
    measured: bool


class _Waiting(NamedTuple):
    """What a user has waiting in a lane."""

    user: str
    first: int
    """Number of the oldest."""
    submissions: int
    served: int
    """When it was last this user's turn; 0 for never."""


def lanes(session: Session) -> list[Lane]:
    """Those in which something waits for its turn."""
    query = select(SubmissionRow.device, SubmissionRow.measured).where(*_WAITS).distinct()
    return [Lane._make(row) for row in session.execute(query)]


def waiting(session: Session, lane: Lane | None = None) -> int:
    """How many submissions wait for their turn, in one lane or in all."""
    return _count(session, *_WAITS, *_of(lane))


def in_flight(session: Session, lane: Lane) -> int:
    """How many are with the workers, in their queues or under way."""
    return _count(session, *_IN_FLIGHT, *_of(lane))


def with_workers(session: Session) -> Sequence[SubmissionRow]:
    """All that are in flight, oldest first."""
    query = select(SubmissionRow).where(*_IN_FLIGHT).order_by(SubmissionRow.number)
    return session.scalars(query).all()


def oldest(session: Session, lane: Lane, limit: int) -> Sequence[SubmissionRow]:
    """Those that have waited longest for their turn."""
    query = select(SubmissionRow).where(*_WAITS, *_of(lane))
    return session.scalars(query.order_by(SubmissionRow.number).limit(limit)).all()


def release(session: Session, lane: Lane, most: int) -> list[str]:
    """Take as many off as leave at most `most` in flight; their ids, in turn.

    Nobody else does so until the transaction ends; SQLite has one writer anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    released: list[str] = []
    room = most - in_flight(session, lane)
    while room > len(released):
        heads = session.execute(_by_turn(lane).limit(room - len(released))).all()
        if not heads:
            break
        released += [_release(session, _Waiting._make(head)) for head in heads]
    return released


def ahead(session: Session, row: SubmissionRow) -> int:
    """How many come before a queued one."""
    lane = Lane(row.device, row.measured)
    queued: tuple[Condition, ...] = (
        SubmissionRow.stage == Stage.QUEUED,
        *_IN_FLIGHT,
        *_of(lane),
    )
    if row.released:
        return _count(session, *queued, SubmissionRow.number < row.number)
    mine = (SubmissionRow.user == row.user, SubmissionRow.number < row.number)
    own = _count(session, *_WAITS, *_of(lane), *mine)
    users = [_Waiting._make(found) for found in session.execute(_by_turn(lane))]
    place = next((n for n, user in enumerate(users) if user.user == row.user), 0)
    before = sum(min(user.submissions, own + 1) for user in users[:place])
    behind = sum(min(user.submissions, own) for user in users[place + 1 :])
    return _count(session, *queued) + before + own + behind


def _count(session: Session, *which: Condition) -> int:
    return session.scalar(select(func.count(SubmissionRow.number)).where(*which)) or 0


def _of(lane: Lane | None) -> tuple[ColumnElement[bool], ...]:
    if lane is None:
        return ()
    return (SubmissionRow.device == lane.device, SubmissionRow.measured.is_(lane.measured))


def _by_turn(lane: Lane) -> Select[Any]:
    """Users with something to release, whose turn was the longest ago first."""
    number = SubmissionRow.number
    each = (
        select(SubmissionRow.user, func.min(number).label("first"), func.count().label("count"))
        .where(*_WAITS, *_of(lane))
        .group_by(SubmissionRow.user)
        .subquery()
    )
    served = func.coalesce(TurnRow.served, 0)
    return (
        select(each.c.user, each.c.first, each.c.count, served)
        .outerjoin(TurnRow, TurnRow.user == each.c.user)
        .order_by(served, each.c.first)
    )


def _release(session: Session, head: _Waiting) -> str:
    last = session.scalar(select(func.max(TurnRow.served))) or 0
    session.merge(TurnRow(user=head.user, served=last + 1))
    mine = SubmissionRow.number == head.first
    session.execute(update(SubmissionRow).where(mine).values(released=True))
    session.flush()
    return session.scalars(select(SubmissionRow.id).where(mine)).one()
