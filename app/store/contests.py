"""Contests in the database."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    and_,
    case,
    func,
    or_,
    select,
    tuple_,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from app import clock
from app.store.contest_tables import (
    AnnouncementRow,
    AuditRow,
    ContestRow,
    EntrantRow,
    EntryRow,
    FinalRerunRow,
    FinalRow,
    MemberRow,
    QuestionRow,
)
from app.store.tables import RerunRow, StandingRow, SubmissionRow
from kernels.contract import Stage
from kernels.contract.rerun import RerunState

_STANDING = ("task", "score", "low", "high", "sittings", "finished_at")


def by_name(session: Session, name: str, *, lock: bool = False) -> ContestRow | None:
    """The contest of that name; with `lock` nobody else changes it meanwhile."""
    return session.get(ContestRow, name, with_for_update=lock or None, populate_existing=lock)


def hold(session: Session, name: str) -> None:
    """Let nobody change or close a contest until the transaction ends; others may enter."""
    query = select(ContestRow.name).where(ContestRow.name == name)
    session.execute(query.with_for_update(read=True))


def page(session: Session, after: ContestRow | None, limit: int) -> Sequence[ContestRow]:
    """At most `limit` that follow one in the list, the latest first."""
    start, name = ContestRow.starts_at, ContestRow.name
    query = select(ContestRow).order_by(start.desc(), name).limit(limit)
    if after is not None:
        later = and_(start == after.starts_at, name > after.name)
        query = query.where(or_(start < after.starts_at, later))
    return session.scalars(query).all()


def entrants(session: Session, contest: str) -> Sequence[EntrantRow]:
    """In the order in which they joined."""
    query = select(EntrantRow).where(EntrantRow.contest == contest)
    return session.scalars(query.order_by(EntrantRow.id)).all()


def size(session: Session, contest: str) -> int:
    """How many entrants there are of whom somebody takes part."""
    present = (MemberRow.contest == contest, MemberRow.left_at.is_(None))
    return session.scalar(select(func.count(MemberRow.entrant.distinct())).where(*present)) or 0


def members(session: Session, contest: str) -> dict[int, list[str]]:
    """Accounts that take part, by entrant."""
    present = (MemberRow.contest == contest, MemberRow.left_at.is_(None))
    query = select(MemberRow).where(*present).order_by(MemberRow.user)
    found: dict[int, list[str]] = {}
    for row in session.scalars(query):
        found.setdefault(row.entrant, []).append(row.user)
    return found


def entrant(
    session: Session, contest: str, number: int, *, lock: bool = False
) -> EntrantRow | None:
    """The entrant of that number, if it is one of this contest."""
    row = session.get(EntrantRow, number, with_for_update=lock or None, populate_existing=lock)
    return row if row is not None and row.contest == contest else None


def entrant_of(
    session: Session, contest: str, user: str | None, *, lock: bool = False
) -> EntrantRow | None:
    """What an account competes as; with `lock` one at a time submits for it."""
    row = None if user is None else member(session, contest, user)
    if row is None or row.left_at is not None:
        return None
    return entrant(session, contest, row.entrant, lock=lock)


def member(session: Session, contest: str, user: str) -> MemberRow | None:
    """An account's part in a contest, also one that it has left."""
    return session.get(MemberRow, (contest, user))


def alone(session: Session, contest: str, user: str) -> EntrantRow | None:
    """What an account competes as alone, or did before it left."""
    mine = (EntrantRow.contest == contest, EntrantRow.name == user, EntrantRow.code.is_(None))
    return session.scalar(select(EntrantRow).where(*mine))


def entries(session: Session, entrant: int) -> int:
    """How many submissions were made for an entrant."""
    return session.scalar(select(func.count()).where(EntryRow.entrant == entrant)) or 0


def by_code(session: Session, contest: str, code: str) -> EntrantRow | None:
    """The team of a contest that one joins with that code, given as digest; locked."""
    query = select(EntrantRow).where(EntrantRow.contest == contest, EntrantRow.code == code)
    return session.scalar(query.with_for_update())


def enter(session: Session, submission: str, row: EntrantRow) -> None:
    """Note that a submission is made for a contest."""
    session.add(
        EntryRow(submission=submission, contest=row.contest, entrant=row.id, at=clock.now())
    )


def enter_again(session: Session, submission: str, first: EntryRow) -> None:
    """Enter a submission in the place of an earlier one of the same source, as of then."""
    session.add(
        EntryRow(submission=submission, contest=first.contest, entrant=first.entrant, at=first.at)
    )


def open_entry(session: Session, submission: str) -> EntryRow | None:
    """A submission's part in a contest that is not closed."""
    query = select(EntryRow).join(ContestRow, ContestRow.name == EntryRow.contest)
    query = query.where(EntryRow.submission == submission, ContestRow.closed_at.is_(None))
    return session.scalar(query)


def entries_of(contest: str) -> Select[str]:
    """Names of the submissions for a contest, as part of another query."""
    return select(EntryRow.submission).where(EntryRow.contest == contest)


def entries_since(session: Session, row: EntrantRow, since: datetime) -> list[datetime]:
    """When an entrant has submitted since a moment, the first time first."""
    query = select(EntryRow.at).where(EntryRow.entrant == row.id, EntryRow.at > since)
    return list(session.scalars(query.order_by(EntryRow.at)))


def numbers(contest: str) -> Select[int]:
    """Numbers of all submissions for a contest, as part of another query."""
    query = select(SubmissionRow.number).join(EntryRow, EntryRow.submission == SubmissionRow.id)
    return query.where(EntryRow.contest == contest)


def unfinished(session: Session, contest: str) -> int:
    """How many submissions for a contest have no verdict yet."""
    query = select(func.count()).select_from(SubmissionRow)
    query = query.join(EntryRow, EntryRow.submission == SubmissionRow.id)
    open_ones = (EntryRow.contest == contest, SubmissionRow.stage != Stage.FINISHED)
    return session.scalar(query.where(*open_ones)) or 0


def best(
    session: Session,
    contest: ContestRow,
    versions: Mapping[str, int],
    harness: int,
    *,
    before: datetime | None = None,
    entrant: int | None = None,
    measured: Collection[str] = (),
) -> Sequence[Any]:
    """Each entrant's best accepted submission for each task, by its version, fastest first: task,
    names of the entrant and of the submission, and the columns of its standing.

    Only those made `before` a moment, only of one `entrant`; what is among the `measured` goes
    before what is faster.
    """
    fastest = (StandingRow.score, StandingRow.finished_at, StandingRow.submission)
    chosen = case((SubmissionRow.id.in_(measured), 0), else_=1)
    place = func.row_number().over(
        partition_by=(EntryRow.entrant, StandingRow.task), order_by=(chosen, *fastest)
    )
    query = (
        select(
            EntrantRow.name.label("entrant"),
            SubmissionRow.id.label("submission"),
            *(getattr(StandingRow, column) for column in _STANDING),
            place.label("place"),
        )
        .select_from(EntryRow)
        .join(EntrantRow, EntrantRow.id == EntryRow.entrant)
        .join(SubmissionRow, SubmissionRow.id == EntryRow.submission)
        .join(StandingRow, StandingRow.submission == SubmissionRow.number)
        .where(EntryRow.contest == contest.name, StandingRow.device == contest.device)
        .where(EntrantRow.disqualified == "", StandingRow.held == "")
        .where(EntrantRow.id.in_(_present(contest.name)))
        .where(StandingRow.harness == harness)
        .where(tuple_(StandingRow.task, StandingRow.task_version).in_(list(versions.items())))
    )
    if before is not None:
        query = query.where(EntryRow.at < before)
    if entrant is not None:
        query = query.where(EntryRow.entrant == entrant)
    found = query.subquery()
    order = (found.c.score, found.c.finished_at, found.c.submission)
    return session.execute(select(found).where(found.c.place == 1).order_by(*order)).all()


def _present(contest: str) -> Select[int]:
    """Numbers of the entrants of whom somebody takes part."""
    query = select(MemberRow.entrant).where(MemberRow.contest == contest)
    return query.where(MemberRow.left_at.is_(None))


def version(session: Session, contest: str) -> tuple[object, ...]:
    """What changes whenever hosts or entrants do something that shows on the boards."""

    def of(what: ColumnElement[Any], column: InstrumentedAttribute[str]) -> ScalarSelect[Any]:
        return select(what).where(column == contest).scalar_subquery()

    found = select(
        of(func.max(AuditRow.id), AuditRow.contest),
        of(func.count(MemberRow.left_at), MemberRow.contest),
        of(func.max(MemberRow.left_at), MemberRow.contest),
        of(func.count(FinalRerunRow.rerun), FinalRerunRow.contest),
    )
    return tuple(session.execute(found).one())


def sealed(user: str | None) -> ColumnElement[bool]:
    """Whether a submission is of a contest without final standings, and `user` has no part in it:
    a condition on rows of SubmissionRow."""
    query = (
        select(EntryRow.submission)
        .join(ContestRow, ContestRow.name == EntryRow.contest)
        .where(EntryRow.submission == SubmissionRow.id, ContestRow.closed_at.is_(None))
        .correlate(SubmissionRow)
    )
    if user is not None:
        mine = select(MemberRow.entrant).where(MemberRow.user == user, MemberRow.left_at.is_(None))
        query = query.where(EntryRow.entrant.not_in(mine), SubmissionRow.user != user)
    return query.exists()


def sealed_numbers() -> Select[int]:
    """Numbers of all submissions for contests without final standings, as part of another query."""
    query = select(SubmissionRow.number).join(EntryRow, EntryRow.submission == SubmissionRow.id)
    open_ones = query.join(ContestRow, ContestRow.name == EntryRow.contest)
    return open_ones.where(ContestRow.closed_at.is_(None))


def is_sealed(session: Session, row: SubmissionRow, user: str | None) -> bool:
    """The same of one submission."""
    query = select(SubmissionRow.number).where(SubmissionRow.number == row.number, sealed(user))
    return session.scalar(query) is not None


def shares(session: Session, row: SubmissionRow, user: str | None) -> bool:
    """Whether a contest shows a submission's source: to a team, or to all when it is over."""
    found = session.execute(
        select(EntryRow.entrant, ContestRow.open_sources, ContestRow.closed_at)
        .join(ContestRow, ContestRow.name == EntryRow.contest)
        .where(EntryRow.submission == row.id)
    ).first()
    if found is None:
        return False
    if found.open_sources and found.closed_at is not None:
        return True
    present = MemberRow.left_at.is_(None)
    mine = (MemberRow.entrant == found.entrant, MemberRow.user == user, present)
    return session.scalar(select(MemberRow.user).where(*mine)) is not None


def announcements(session: Session, contest: str) -> Sequence[AnnouncementRow]:
    """The latest first."""
    query = select(AnnouncementRow).where(AnnouncementRow.contest == contest)
    return session.scalars(query.order_by(AnnouncementRow.id.desc())).all()


def questions(session: Session, contest: str) -> Sequence[QuestionRow]:
    """The latest first."""
    query = select(QuestionRow).where(QuestionRow.contest == contest)
    return session.scalars(query.order_by(QuestionRow.id.desc())).all()


def question(session: Session, contest: str, number: int) -> QuestionRow | None:
    """The question of that number, if it is one of this contest."""
    row = session.get(QuestionRow, number)
    return row if row is not None and row.contest == contest else None


def open_questions(session: Session, row: EntrantRow) -> int:
    """How many questions of an entrant have no answer."""
    mine = (QuestionRow.entrant == row.id, QuestionRow.answer.is_(None))
    return session.scalar(select(func.count()).where(*mine)) or 0


def final_reruns(session: Session, contest: str) -> dict[str, tuple[str, RerunState]]:
    """Task and state of each measuring after the end."""
    query = (
        select(FinalRerunRow.rerun, FinalRerunRow.task, RerunRow.state)
        .join(RerunRow, RerunRow.id == FinalRerunRow.rerun)
        .where(FinalRerunRow.contest == contest)
        .order_by(RerunRow.number)
    )
    return {row.rerun: (row.task, row.state) for row in session.execute(query)}


def measured_by(session: Session, reruns: Collection[str]) -> set[str]:
    """Submissions that took part in these reruns."""
    query = select(SubmissionRow.id).join(RerunRow, RerunRow.submission == SubmissionRow.number)
    return set(session.scalars(query.where(RerunRow.id.in_(reruns))))


def final(session: Session, contest: str) -> str | None:
    """The final standings as JSON; None until they are stored."""
    row = session.get(FinalRow, contest)
    return None if row is None else row.body
