"""Submissions in the database: insert, find, list."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, not_, select
from sqlalchemy.orm import Session

from app import clock
from app.schemas import SubmissionFilter
from app.store import contests, turns
from app.store.tables import UNFINISHED, PlanRow, ReportRow, StageRow, SubmissionRow
from kernels.contract import Stage, Submission, Verdict


@dataclass(frozen=True)
class Origin:
    """Who submitted, and what tells a repeated request from a new one."""

    user: str
    idempotency_key: str | None
    body_sha256: str
    label: str | None = None
    contest: str | None = None
    check_only: bool = False


def insert(session: Session, submission: Submission, origin: Origin) -> SubmissionRow:
    """A new row in stage `queued`, with the first line of its log."""
    row = SubmissionRow(
        **submission.model_dump(),
        user=origin.user,
        idempotency_key=origin.idempotency_key,
        body_sha256=origin.body_sha256,
        label=origin.label,
        check_only=origin.check_only,
        stage=Stage.QUEUED,
        verdict=None,
        reason="",
        score=None,
        created_at=clock.now(),
        finished_at=None,
        moved_at=clock.steady(),
    )
    session.add(row)
    session.flush()
    log(session, row, "waiting for a worker")
    return row


def log(session: Session, row: SubmissionRow, detail: str) -> None:
    """Add the service's own line on the stage that a row is in."""
    session.add(
        StageRow(
            submission=row.number,
            attempt=row.attempt,
            stage=row.stage,
            detail=detail,
            case=None,
            worker="",
            at=clock.now(),
            stream_id=None,
        )
    )


def by_id(session: Session, submission: str) -> SubmissionRow | None:
    """The submission of that public name."""
    return session.scalar(select(SubmissionRow).where(SubmissionRow.id == submission))


def beginning(session: Session, prefix: str, limit: int) -> Sequence[SubmissionRow]:
    """The newest submissions whose names begin so."""
    query = select(SubmissionRow).where(SubmissionRow.id.startswith(prefix, autoescape=True))
    return session.scalars(query.order_by(SubmissionRow.number.desc()).limit(limit)).all()


def by_key(session: Session, user: str, key: str) -> SubmissionRow | None:
    """The submission that a user made with an idempotency key."""
    mine = SubmissionRow.user == user
    return session.scalar(select(SubmissionRow).where(mine, SubmissionRow.idempotency_key == key))


def source(session: Session, submission: str) -> str | None:
    """The source of a submission."""
    return session.scalar(select(SubmissionRow.source).where(SubmissionRow.id == submission))


def solved(session: Session, user: str, task: str) -> bool:
    """Whether a user has an accepted submission to a task."""
    mine = (SubmissionRow.user == user, SubmissionRow.task == task)
    query = select(SubmissionRow.number).where(*mine, SubmissionRow.verdict == Verdict.ACCEPTED)
    return session.scalar(query.limit(1)) is not None


def payload(row: SubmissionRow, source: str) -> Submission:
    """What the queue carries for the row's present attempt."""
    return Submission(
        id=row.id,
        attempt=row.attempt,
        task=row.task,
        task_version=row.task_version,
        device=row.device,
        measured=row.measured,
        entry=row.entry,
        source=source,
    )


def page(
    session: Session,
    wanted: SubmissionFilter,
    before: int | None,
    limit: int,
    *hidden: ColumnElement[bool],
) -> Sequence[SubmissionRow]:
    """At most `limit` rows that arrived before number `before` and are not `hidden`, newest
    first."""
    query = select(SubmissionRow).order_by(SubmissionRow.number.desc()).limit(limit)
    if wanted.contest is not None:
        query = query.where(SubmissionRow.id.in_(contests.entries_of(wanted.contest)))
    for name, value in wanted.model_dump(exclude_none=True, exclude={"contest"}).items():
        query = query.where(getattr(SubmissionRow, name) == value)
    if before is not None:
        query = query.where(SubmissionRow.number < before)
    query = query.where(*(not_(condition) for condition in hidden))
    return session.scalars(query).all()


def unfinished(session: Session) -> Sequence[SubmissionRow]:
    """Every submission without a report, oldest first."""
    return session.scalars(
        select(SubmissionRow).where(UNFINISHED).order_by(SubmissionRow.number)
    ).all()


def waiting(session: Session, user: str | None = None) -> int:
    """How many submissions, of one user or of all, are unfinished."""
    query = select(func.count(SubmissionRow.number)).where(UNFINISHED)
    if user is not None:
        query = query.where(SubmissionRow.user == user)
    return session.scalar(query) or 0


def position(session: Session, row: SubmissionRow) -> int | None:
    """Place among those that wait for the same workers, from 1; None for one that is not queued."""
    return turns.ahead(session, row) + 1 if row.stage is Stage.QUEUED else None


def stages(session: Session, row: SubmissionRow, after: int = 0) -> Sequence[StageRow]:
    """The log after an entry, oldest first."""
    mine = StageRow.submission == row.number
    return session.scalars(
        select(StageRow).where(mine, StageRow.id > after).order_by(StageRow.id)
    ).all()


def measured_for(session: Session, row: SubmissionRow) -> float:
    """Seconds since the present attempt was first said to be measured; 0 if it never was."""
    mine = (StageRow.submission == row.number, StageRow.attempt == row.attempt)
    query = select(func.min(StageRow.at)).where(*mine, StageRow.stage == Stage.MEASURING)
    began = session.scalar(query)
    return 0.0 if began is None else max(0.0, (clock.now() - began).total_seconds())


def report(session: Session, row: SubmissionRow) -> str | None:
    """The report as JSON; None until it is finished."""
    return session.scalar(select(ReportRow.body).where(ReportRow.submission == row.number))


def plan_bytes(session: Session, row: SubmissionRow) -> int | None:
    """Size of the stored plan."""
    return session.scalar(select(PlanRow.nbytes).where(PlanRow.submission == row.number))


def plan(session: Session, row: SubmissionRow) -> bytes | None:
    """The packed plan."""
    return session.scalar(select(PlanRow.bundle).where(PlanRow.submission == row.number))
