"""What moves a submission on. Every change names the attempt it is for: a late word from an
attempt that was given up, or one said twice, changes nothing."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.store import board, submissions, usage, webhooks
from app.store.tables import PlanRow, ReportRow, StageRow, SubmissionRow
from kernels.contract import BuiltEvent, Report, Stage, StageEvent, Verdict

_BEFORE = {
    Stage.BUILDING: (Stage.QUEUED, Stage.BUILDING),
    Stage.MEASURING: (Stage.QUEUED, Stage.BUILDING, Stage.MEASURING),
}


@dataclass(frozen=True)
class Attempt:
    """One go at judging one submission."""

    submission: str
    number: int


def advance(session: Session, event: StageEvent, stream_id: str) -> bool:
    """Note that an attempt got on; False if that is no news."""
    row = _touch(session, Attempt(event.submission, event.attempt))
    if row is None or _logged(session, stream_id):
        return False
    stage = Stage(event.stage)
    if row.stage in _BEFORE[stage]:
        row.stage = stage
    session.add(
        StageRow(
            submission=row.number,
            attempt=event.attempt,
            stage=stage,
            detail=_storable(event.detail),
            case=event.case,
            worker=_storable(event.worker),
            at=event.at,
            stream_id=stream_id,
        )
    )
    return True


def keep_plan(session: Session, event: BuiltEvent, bundle: bytes) -> bool:
    """Store the plan of the present attempt in place of an earlier one's."""
    row = _lock(session, Attempt(event.submission, event.attempt))
    if row is None:
        return False
    row.moved_at = clock.steady()
    plan = session.get(PlanRow, row.number) or PlanRow(submission=row.number)
    plan.attempt, plan.sha256 = event.attempt, event.plan
    plan.nbytes, plan.bundle = len(bundle), bundle
    session.add(plan)
    if row.measured and row.stage is not Stage.FINISHED:
        submissions.log(session, row, f"built; waiting for an {row.device} to measure on")
    return True


def has_plan(session: Session, attempt: Attempt) -> bool:
    """Whether the plan of an attempt is stored."""
    query = (
        select(PlanRow.attempt)
        .join(SubmissionRow, SubmissionRow.number == PlanRow.submission)
        .where(SubmissionRow.id == attempt.submission, PlanRow.attempt == attempt.number)
    )
    return session.scalar(query) is not None


def finish(session: Session, report: Report) -> bool:
    """Store the report of the present attempt; False if it comes late or twice."""
    row = _touch(session, Attempt(report.submission, report.attempt))
    if row is None:
        return False
    row.stage, row.verdict = Stage.FINISHED, report.verdict
    row.reason, row.score = _storable(report.reason), report.score
    row.finished_at = clock.now()
    body = report.model_dump_json()
    session.add(ReportRow(submission=row.number, attempt=report.attempt, body=body))
    usage.settle(session, row.id, _gpu_seconds(session, row, report))
    submissions.log(session, row, report.verdict.value)
    session.flush()
    board.enter(session, row, report)
    webhooks.judged(session, row)
    return True


def restart(session: Session, attempt: Attempt, reason: str) -> SubmissionRow | None:
    """Give an attempt up and queue the next; None if it is over already."""
    row = _touch(session, attempt)
    if row is None:
        return None
    row.attempt, row.stage = attempt.number + 1, Stage.QUEUED
    submissions.log(session, row, _storable(f"starting over: {reason}"))
    return row


def _gpu_seconds(session: Session, row: SubmissionRow, report: Report) -> float:
    """What a submission is charged for; our own faults cost nothing."""
    if report.verdict is Verdict.JUDGE_ERROR:
        return 0.0
    if report.verdict is Verdict.CANCELLED:
        return submissions.measured_for(session, row)
    if report.gpu is not None:
        return report.gpu.total
    return report.durations.measure or 0.0


def _touch(session: Session, attempt: Attempt) -> SubmissionRow | None:
    """Lock the row, if this is its present, unfinished attempt, and note that it got on."""
    row = _lock(session, attempt)
    if row is None or row.stage is Stage.FINISHED:
        return None
    row.moved_at = clock.steady()
    return row


def _lock(session: Session, attempt: Attempt) -> SubmissionRow | None:
    """The row, if this is its present attempt; nobody else changes it until the transaction ends.

    Log lines of one submission therefore get their ids in the order in which they are committed.
    """
    mine = (SubmissionRow.id == attempt.submission, SubmissionRow.attempt == attempt.number)
    query = select(SubmissionRow).where(*mine).with_for_update()
    return session.scalar(query.execution_options(populate_existing=True))


def _logged(session: Session, stream_id: str) -> bool:
    return session.scalar(select(StageRow.id).where(StageRow.stream_id == stream_id)) is not None


def _storable(text: str) -> str:
    """PostgreSQL keeps no NUL in a text."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
