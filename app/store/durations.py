"""How long judging takes as a rule, from what was judged before."""

from statistics import median

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.store.tables import FINISHED, SubmissionRow
from kernels.contract import Stage, Verdict

_LATEST = 20
_NOT_JUDGED = (Verdict.CANCELLED, Verdict.JUDGE_ERROR)


def usual(session: Session, row: SubmissionRow) -> float | None:
    """Median seconds from submission to verdict of the latest that were judged as an unfinished
    one will be: its task, its device, measured or checked. None if it is finished, or the first.
    """
    if row.stage is Stage.FINISHED:
        return None
    alike = (
        SubmissionRow.task == row.task,
        SubmissionRow.device == row.device,
        SubmissionRow.measured.is_(row.measured),
        FINISHED,
        SubmissionRow.verdict.not_in(_NOT_JUDGED),
    )
    query = select(SubmissionRow.created_at, SubmissionRow.finished_at).where(*alike)
    latest = session.execute(query.order_by(SubmissionRow.number.desc()).limit(_LATEST))
    seconds = [(end - start).total_seconds() for start, end in latest if end is not None]
    return median(seconds) if seconds else None
