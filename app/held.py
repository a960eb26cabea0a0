"""What waits for a person's judgement, with its evidence; for admins."""

from datetime import datetime

from app.roles import Scope
from app.schemas import Schema
from app.service import Service
from app.store import held
from app.store.tables import SittingRow, SubmissionRow
from kernels.contract import DeviceName, Verdict

_SHOWN = 100


class Evidence(Schema):
    """A sitting that speaks against a submission."""

    verdict: Verdict
    reason: str
    finished_at: datetime | None


class HeldSubmission(Schema):
    """A submission that is on no board until somebody has looked at it."""

    submission: str
    task: str
    device: DeviceName
    user: str
    reason: str
    """One sentence."""
    evidence: tuple[Evidence, ...]
    """Oldest first; the reports are among the submission's sittings."""


def held_submissions(service: Service) -> tuple[HeldSubmission, ...]:
    """The latest of each kind: held after a later sitting, then implausible at once; Forbidden."""
    service.caller.require(Scope.ADMIN)
    with service.store.read() as session:
        rows = held.held(session, _SHOWN)
        found = held.against(session, [row for row, _ in rows])
        later = [
            _held(row, reason, tuple(map(_evidence, found[row.number]))) for row, reason in rows
        ]
        first = [
            _held(row, row.reason, (_evidence(row),)) for row in held.implausible(session, _SHOWN)
        ]
    return (*later, *first)


def _held(row: SubmissionRow, reason: str, evidence: tuple[Evidence, ...]) -> HeldSubmission:
    return HeldSubmission(
        submission=row.id,
        task=row.task,
        device=row.device,
        user=row.user,
        reason=reason,
        evidence=evidence,
    )


def _evidence(row: SubmissionRow | SittingRow) -> Evidence:
    assert row.verdict is not None  # both kinds of rows are finished
    return Evidence(verdict=row.verdict, reason=row.reason, finished_at=row.finished_at)
