"""From rows of the database to payloads."""

from sqlalchemy.orm import Session

from app import ranking
from app.schemas import (
    Board,
    BoardRecord,
    HeldEntry,
    HouseEntry,
    StageEntry,
    SubmissionDetail,
    SubmissionSummary,
)
from app.store import board as boards
from app.store import durations, submissions
from app.store.tables import StageRow, SubmissionRow
from kernels.contract import Record, Report

_SUMMARY = tuple(SubmissionSummary.model_fields)
_STAGE = tuple(StageEntry.model_fields)
_HELD_SHOWN = 20


def summary(row: SubmissionRow) -> SubmissionSummary:
    """A submission for a list."""
    return SubmissionSummary(**{name: getattr(row, name) for name in _SUMMARY})


def detail(session: Session, row: SubmissionRow) -> SubmissionDetail:
    """A submission with its log and its report."""
    body = submissions.report(session, row)
    return SubmissionDetail(
        **dict(summary(row)),
        entry=row.entry,
        position=submissions.position(session, row),
        usual_seconds=durations.usual(session, row),
        stages=tuple(map(stage, submissions.stages(session, row))),
        report=None if body is None else Report.model_validate_json(body),
        plan_bytes=submissions.plan_bytes(session, row),
    )


def stage(row: StageRow) -> StageEntry:
    """One line of a log."""
    return StageEntry(**{name: getattr(row, name) for name in _STAGE})


def board(session: Session, name: boards.BoardName, limit: int) -> Board:
    """The top of a board."""
    held = boards.held(session, name, _HELD_SHOWN)
    return Board(
        **name._asdict(),
        entries=ranking.rank(boards.top(session, name, limit)),
        total=boards.size(session, name),
        outdated=boards.outdated(session, name),
        held=tuple(HeldEntry(user=u, submission=s, reason=reason) for u, s, reason in held),
    )


def record(standing: boards.Standing) -> BoardRecord:
    """A submission that was faster than all before it."""
    return BoardRecord(**{name: getattr(standing, name) for name in BoardRecord.model_fields})


def house_entry(record: Record) -> HouseEntry:
    """What a record says, in short."""
    report = record.report
    assert report.score is not None  # Record's validator
    return HouseEntry(
        task=report.task,
        task_version=report.task_version,
        device=report.device,
        solution=record.solution,
        score=report.score,
        gpu=(report.environment and report.environment.gpu) or report.device.value,
        judged_at=report.finished_at,
    )
