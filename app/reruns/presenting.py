"""From rows of reruns and sittings to payloads, as the caller may see them."""

from anyio.to_thread import run_sync
from sqlalchemy.orm import Session

from app import visibility
from app.errors import NotFound
from app.pooling import estimate_of
from app.reruns.schemas import RerunDetail, Sitting, Sittings, Standing
from app.service import Service, row_of
from app.store import board, reruns, submissions
from app.store.reruns import Group
from app.store.tables import SittingRow, SubmissionRow
from kernels.contract import Report, Verdict
from kernels.contract.inspection import Inspection
from kernels.contract.rerun import RerunState

_SHOWN = 30
_ENDED = (RerunState.DONE, RerunState.FAILED)
_STANDING = tuple(Standing.model_fields)


def rerun_detail(service: Service, rerun: str) -> RerunDetail:
    """One rerun; NotFound."""
    with service.store.read() as session:
        group = reruns.group(session, rerun) if rerun.isalnum() and len(rerun) <= 64 else None
        if group is None or not _seen(service, session, group):
            raise NotFound(
                f"there is no rerun {rerun[:64]!r}", "Look it up on its submission's page."
            )
        return _rerun(service, session, group)


def reruns_of(service: Service, submission: str) -> tuple[RerunDetail, ...]:
    """The latest reruns of a submission, the newest first; NotFound."""
    with service.store.read() as session:
        names = reruns.of_submission(session, row_of(session, submission, service.caller), _SHOWN)
        groups = [group for name in names if (group := reruns.group(session, name))]
        return tuple(_rerun(service, session, group) for group in groups)


def sittings_of(service: Service, submission: str) -> Sittings:
    """Everything that was measured of a submission; NotFound."""
    with service.store.read() as session:
        row = row_of(session, submission, service.caller)
        found = board.standing(session, row)
        body = submissions.report(session, row)
        harness = found.harness if found else 0
        first = [] if body is None else _first(row, Report.model_validate_json(body), harness)
        later = [
            _later(number, sitting, harness)
            for number, sitting in enumerate(reruns.sittings(session, row), 1)
        ]
    standing = found and Standing(**{name: getattr(found, name) for name in _STANDING})
    return Sittings(standing=standing, sittings=(*first, *later))


def sitting_report(service: Service, submission: str, number: int) -> Report:
    """The report of one sitting; NotFound."""
    with service.store.read() as session:
        row = row_of(session, submission, service.caller)
        if number == 0:
            body = submissions.report(session, row)
        else:
            body = reruns.sitting(session, row, number)
        sees = visibility.sees_source(session, service.settings.sources, service.caller, row)
    if body is None:
        raise NotFound(
            f"submission {submission} has no sitting {number}", "Its sittings are listed."
        )
    report = service.hidden(row.task).report(Report.model_validate_json(body))
    return report if sees else visibility.outcome(report)


async def wait_for(service: Service, rerun: str, seconds: float) -> RerunDetail:
    """The rerun when it has ended or `seconds` have passed; NotFound."""
    return await service.wait_until(
        rerun,
        seconds,
        lambda: run_sync(rerun_detail, service, rerun),
        lambda detail: detail.state in _ENDED,
    )


def _rerun(service: Service, session: Session, group: Group) -> RerunDetail:
    row, (one, *_) = group.first, group.submissions
    sees = visibility.sees_source(session, service.settings.sources, service.caller, one)
    known = row.inspection if sees else None
    return RerunDetail(
        id=row.id,
        kind=row.kind,
        state=row.state,
        attempt=row.attempt,
        submissions=_seen(service, session, group),
        rounds=row.rounds,
        detail=row.detail,
        user=row.user,
        created_at=row.created_at,
        finished_at=row.finished_at,
        inspection=None if known is None else Inspection.model_validate_json(known),
    )


def _seen(service: Service, session: Session, group: Group) -> tuple[str, ...]:
    """Of its submissions those that the caller may know of."""
    rows = group.submissions
    return tuple(row.id for row in rows if visibility.sees(session, service.caller, row))


def _first(row: SubmissionRow, report: Report, harness: int) -> list[Sitting]:
    if report.score is None or row.finished_at is None:
        return []
    estimate = estimate_of(report)
    return [
        Sitting(
            number=0,
            rerun=None,
            round=1,
            verdict=report.verdict,
            reason=report.reason,
            harness=report.harness,
            score=estimate.score,
            low=estimate.low,
            high=estimate.high,
            counts=report.verdict is Verdict.ACCEPTED and report.harness == harness,
            finished_at=row.finished_at,
        )
    ]


def _later(number: int, row: SittingRow, harness: int) -> Sitting:
    return Sitting(
        number=number,
        rerun=row.rerun,
        round=row.round,
        verdict=row.verdict,
        reason=row.reason,
        harness=row.harness,
        score=row.score,
        low=row.low,
        high=row.high,
        counts=row.verdict is Verdict.ACCEPTED and row.harness == harness,
        finished_at=row.finished_at,
    )
