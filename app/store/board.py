"""Standings of accepted submissions, and the board: each user's best, kept as sittings come in."""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import CTE, case, delete, func, select, text, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from app.pooling import Estimate, estimate_of, pool
from app.store import contests
from app.store.tables import BoardRow, BoardVersionRow, SittingRow, StandingRow, SubmissionRow
from kernels.contract import HARNESS_VERSION, DeviceName, Report, Verdict


class Standing(NamedTuple):
    """A user's place on a board, before it is ranked."""

    user: str
    submission: str
    score: float
    low: float
    high: float
    sittings: int
    finished_at: datetime


class BoardName(NamedTuple):
    """What the entries of one board have in common."""

    task: str
    task_version: int
    device: DeviceName
    harness: int = HARNESS_VERSION


class Points(NamedTuple):
    """What a user has over several boards, before it is ranked."""

    user: str
    points: float
    low: float
    high: float
    solved: int
    firsts: int


HELD = text("held <> ''")
"""Spelled as the partial index spells it, so that a database uses it."""

COUNTS = text("held = ''")
"""Likewise."""

_PLACE = ("submission", "score", "low", "high", "sittings", "finished_at")


def enter(session: Session, row: SubmissionRow, report: Report) -> None:
    """Give an accepted submission its standing, from the sittings that there are."""
    if report.verdict is not Verdict.ACCEPTED or report.score is None:
        return
    known, harness = _estimates(session, row, report)
    standing = session.get(StandingRow, row.number)
    changed = {BoardName(row.task, row.task_version, row.device, harness)}
    if standing is None:
        standing = StandingRow(submission=row.number, held="", **_copied(row))
        session.add(standing)
    else:
        changed.add(_name_of(standing))
    found = pool(known)
    standing.score, standing.low, standing.high = found.score, found.low, found.high
    standing.harness, standing.sittings = harness, found.sittings
    session.flush()
    for name in changed:
        _choose(session, name, row.user)
    _count_change(session, _name_of(standing))


def hold(session: Session, row: SubmissionRow, reason: str) -> None:
    """Take a submission off its board for good; the user's next best takes its place."""
    standing = session.get(StandingRow, row.number)
    if standing is None or standing.held:
        return
    standing.held = reason
    session.flush()
    _choose(session, _name_of(standing), row.user)
    _count_change(session, _name_of(standing))


def unseal(session: Session, contest: str) -> None:
    """Put on its boards what was made for a contest that is closed now."""
    query = select(StandingRow).where(StandingRow.submission.in_(contests.numbers(contest)))
    found = {(_name_of(row), row.user) for row in session.scalars(query)}
    for name, user in sorted(found):
        _choose(session, name, user)
    for name in sorted({name for name, _ in found}):
        _count_change(session, name)


def standing(session: Session, row: SubmissionRow) -> StandingRow | None:
    """The standing of a submission; None unless it was accepted."""
    return session.get(StandingRow, row.number)


def top(session: Session, name: BoardName, limit: int) -> Sequence[Standing]:
    """The best entries, fastest first; of equals the earlier."""
    rows = session.execute(
        select(*(getattr(BoardRow, field) for field in Standing._fields))
        .where(*_on(BoardRow, name))
        .order_by(BoardRow.score, BoardRow.finished_at, BoardRow.user)
        .limit(limit)
    )
    return [Standing(*row) for row in rows]


def version(session: Session, name: BoardName) -> int:
    """A number that grows whenever something changes that the board shows."""
    query = select(BoardVersionRow.version).where(*_on(BoardVersionRow, name))
    return session.scalar(query) or 0


def versions(session: Session, names: Sequence[BoardName]) -> tuple[tuple[Any, ...], ...]:
    """The same of several boards, in one query."""
    row = BoardVersionRow
    columns = (row.task, row.task_version, row.device)
    query = select(*columns, row.version).where(
        tuple_(*columns).in_([(name.task, name.task_version, name.device) for name in names])
    )
    return tuple(sorted(tuple(found) for found in session.execute(query)))


def size(session: Session, name: BoardName) -> int:
    """How many users a board has."""
    return session.scalar(select(func.count()).where(*_on(BoardRow, name))) or 0


def outdated(session: Session, name: BoardName) -> int:
    """How many users stand only on boards of other versions of the clock."""
    here = select(BoardRow.user).where(*_on(BoardRow, name))
    query = select(func.count(BoardRow.user.distinct())).where(
        *_on(BoardRow, name)[:3], BoardRow.user.not_in(here)
    )
    return session.scalar(query) or 0


def records(session: Session, name: BoardName, limit: int) -> Sequence[Standing]:
    """What was faster than all before it, by the scores that stand now; the first first."""
    line = _record_line(name)
    columns = [getattr(StandingRow, field) for field in Standing._fields if field != "submission"]
    found = (
        select(*columns, SubmissionRow.id.label("submission"))
        .join(line, line.c.submission == StandingRow.submission)
        .join(SubmissionRow, SubmissionRow.number == StandingRow.submission)
        .order_by(StandingRow.finished_at.desc(), StandingRow.submission.desc())
        .limit(limit)
    )
    return [Standing(**row._mapping) for row in session.execute(found)][::-1]


def _record_line(name: BoardName) -> CTE:
    """From each record to the next that was faster, so that an index is passed over once."""
    order = (StandingRow.finished_at, StandingRow.submission)
    first = (
        select(StandingRow.submission)
        .where(*_on(StandingRow, name), COUNTS)
        .where(StandingRow.submission.not_in(contests.sealed_numbers()))
        .order_by(*order)
        .limit(1)
    )
    record = aliased(StandingRow)
    columns = (record.submission, record.finished_at, record.score)
    start = select(*columns).where(record.submission == first.scalar_subquery())
    line = start.cte("line", recursive=True)
    later = tuple_(*order) > tuple_(line.c.finished_at, line.c.submission)
    following = first.where(later, StandingRow.score < line.c.score).correlate(line)
    return line.union_all(
        select(*columns).join(line, record.submission == following.scalar_subquery())
    )


def points(
    session: Session, device: DeviceName, versions: Mapping[str, int], limit: int
) -> tuple[Sequence[Points], int]:
    """Users by best score / own score summed over the boards of these tasks, the most first; and
    how many users there are."""
    best = func.min(BoardRow.score).over(partition_by=BoardRow.task)
    counted = (
        select(BoardRow.user, BoardRow.score, BoardRow.low, BoardRow.high, best.label("best"))
        .where(BoardRow.device == device, BoardRow.harness == HARNESS_VERSION)
        .where(tuple_(BoardRow.task, BoardRow.task_version).in_(list(versions.items())))
        .subquery()
    )
    of = counted.c
    rows = session.execute(
        select(
            of.user,
            func.sum(of.best / of.score).label("points"),
            func.sum(of.best / of.high),
            func.sum(of.best / of.low),
            func.count(),
            func.sum(case((of.score == of.best, 1), else_=0)),
        )
        .group_by(of.user)
        .order_by(text("points DESC"), of.user)
        .limit(limit)
    )
    total = session.scalar(select(func.count(of.user.distinct()))) or 0
    return [Points(*row) for row in rows], total


def held(session: Session, name: BoardName, limit: int) -> Sequence[tuple[str, str, str]]:
    """User, submission and reason of what is held, the latest first."""
    rows = session.execute(
        select(StandingRow.user, SubmissionRow.id, StandingRow.held)
        .join(SubmissionRow, SubmissionRow.number == StandingRow.submission)
        .where(*_on(StandingRow, name), HELD, ~contests.sealed(None))
        .order_by(StandingRow.submission.desc())
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _copied(row: SubmissionRow) -> dict[str, Any]:
    names = ("task", "task_version", "device", "user", "finished_at")
    return {name: getattr(row, name) for name in names}


def _estimates(session: Session, row: SubmissionRow, report: Report) -> tuple[list[Estimate], int]:
    """The accepted sittings by the newest clock that measured the plan, and its version."""
    query = select(SittingRow).where(
        SittingRow.submission == row.number, SittingRow.verdict == Verdict.ACCEPTED
    )
    known = [(report.harness, estimate_of(report))]
    for sitting in session.scalars(query.order_by(SittingRow.id)):
        if sitting.score is not None and sitting.low is not None and sitting.high is not None:
            found = Estimate(sitting.score, sitting.low, sitting.high)
            known.append((sitting.harness, found))
    newest = max(version for version, _ in known)
    return [estimate for version, estimate in known if version == newest], newest


def _choose(session: Session, name: BoardName, user: str) -> None:
    """Put a user's best standing on a board, or take the user off it."""
    _take_turns(session, name, user)
    best = session.execute(
        select(StandingRow, SubmissionRow.id)
        .join(SubmissionRow, SubmissionRow.number == StandingRow.submission)
        .where(*_on(StandingRow, name), StandingRow.user == user, StandingRow.held == "")
        .where(~contests.sealed(None))
        .order_by(StandingRow.score, StandingRow.finished_at, StandingRow.submission)
        .limit(1)
    ).first()
    if best is None:
        session.execute(delete(BoardRow).where(*_on(BoardRow, name), BoardRow.user == user))
        return
    row, submission = best
    values = {field: getattr(row, field) for field in _PLACE} | {"submission": submission}
    insert = _insert(session)(BoardRow).values(**name._asdict(), user=user, **values)
    keys = (*BoardName._fields, "user")
    session.execute(insert.on_conflict_do_update(index_elements=keys, set_=values))


def _take_turns(session: Session, name: BoardName, user: str) -> None:
    """Two transactions must not both choose before either has committed; SQLite has one writer."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(select(func.pg_advisory_xact_lock(zlib.crc32(repr((name, user)).encode()))))


def _count_change(session: Session, name: BoardName) -> None:
    """Last of all in a transaction, since all others that change the board wait for its end."""
    key = dict(zip(BoardName._fields[:3], name, strict=False))
    insert = _insert(session)(BoardVersionRow).values(**key, version=1)
    more = {"version": BoardVersionRow.version + 1}
    session.execute(insert.on_conflict_do_update(index_elements=list(key), set_=more))


def _on(
    table: type[BoardRow] | type[BoardVersionRow] | type[StandingRow], name: BoardName
) -> list[Any]:
    fields = {field: value for field, value in name._asdict().items() if hasattr(table, field)}
    return [getattr(table, field) == value for field, value in fields.items()]


def _name_of(row: StandingRow) -> BoardName:
    return BoardName(row.task, row.task_version, row.device, row.harness)


def _insert(session: Session) -> type[sqlite.Insert] | type[postgresql.Insert]:
    return sqlite.Insert if session.get_bind().dialect.name == "sqlite" else postgresql.Insert
