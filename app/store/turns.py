"""Whose turn it is: of what waits, one submission of each user, then the next of each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    TextClause,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    text,
    union_all,
    update,
)
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


_LANES = tuple(Lane(device, measured) for device in DeviceName for measured in (False, True))


def lanes(session: Session) -> list[Lane]:
    """Those in which something waits for its turn."""
    # looks for one of each: those that wait may be many
    return [_LANES[n] for n in session.scalars(_WAITED_FOR)]


def waiting(session: Session, lane: Lane | None = None) -> int:
    """How many submissions wait for their turn, in one lane or in all."""
    return _count(session, *_WAITS, *_of(lane))


def in_flight(session: Session, lane: Lane) -> int:
    """How many are with the workers, in their queues or under way."""
    return _count(session, *_IN_FLIGHT, *_of(lane))


def flying(session: Session) -> dict[Lane, int]:
    """The same of every lane of which some are."""
    lane = (SubmissionRow.device, SubmissionRow.measured)
    query = select(*lane, func.count()).where(*_IN_FLIGHT).group_by(*lane)
    return {Lane(device, measured): count for device, measured, count in session.execute(query)}


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
        released += _take_off(session, heads)
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
    return _count(session, *queued) + _before(session, lane, row)


def _before(session: Session, lane: Lane, row: SubmissionRow) -> int:
    """How many that wait have their turn before one that does: its user's older ones, one more of
    each user who is before that one, and as many of each who is after."""
    mine: tuple[Condition, ...] = (*_WAITS, *_of(lane), SubmissionRow.user == row.user)
    first = session.scalar(select(func.min(SubmissionRow.number)).where(*mine)) or row.number
    own = _count(session, *mine, SubmissionRow.number < row.number)
    turn = session.get(TurnRow, row.user)
    at = 0 if turn is None else turn.served
    each, served = _each(lane), func.coalesce(TurnRow.served, 0)
    earlier = or_(served < at, and_(served == at, each.c.first < first))
    rounds = case((earlier, own + 1), else_=own)
    taken = case((each.c.count < rounds, each.c.count), else_=rounds)
    query = select(func.sum(taken)).outerjoin_from(each, TurnRow, TurnRow.user == each.c.user)
    return own + int(session.scalar(query.where(each.c.user != row.user)) or 0)


def _count(session: Session, *which: Condition) -> int:
    return session.scalar(select(func.count(SubmissionRow.number)).where(*which)) or 0


def _of(lane: Lane | None) -> tuple[ColumnElement[bool], ...]:
    if lane is None:
        return ()
    return (SubmissionRow.device == lane.device, SubmissionRow.measured.is_(lane.measured))


def _each(lane: Lane) -> Subquery:
    """Of each user with something to release: the number of the oldest, and how many."""
    return (
        select(
            SubmissionRow.user,
            func.min(SubmissionRow.number).label("first"),
            func.count().label("count"),
        )
        .where(*_WAITS, *_of(lane))
        .group_by(SubmissionRow.user)
        .subquery()
    )


def _by_turn(lane: Lane) -> Select[Any]:
    """Those users and their oldest, whose turn was the longest ago first."""
    each, served = _each(lane), func.coalesce(TurnRow.served, 0)
    heads = select(each.c.user, each.c.first).outerjoin(TurnRow, TurnRow.user == each.c.user)
    return heads.order_by(served, each.c.first)


def _take_off(session: Session, heads: Sequence[Any]) -> list[str]:
    """Mark the oldest of these users as released; their ids."""
    last = session.scalar(select(func.max(TurnRow.served))) or 0
    for place, head in enumerate(heads, start=last + 1):
        session.merge(TurnRow(user=head.user, served=place))
    numbers = [head.first for head in heads]
    taken = SubmissionRow.number.in_(numbers)
    session.execute(update(SubmissionRow).where(taken).values(released=True))
    session.flush()
    names = dict(session.execute(select(SubmissionRow.number, SubmissionRow.id).where(taken)).all())
    return [names[number] for number in numbers]


_WAITED_FOR = union_all(
    *(
        select(literal(n)).where(select(SubmissionRow.number).where(*_WAITS, *_of(lane)).exists())
        for n, lane in enumerate(_LANES)
    )
)
