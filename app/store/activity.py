"""What one user has done: when submissions came in, and on which boards they stand."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.store.tables import BoardRow, SubmissionRow
from kernels.contract import HARNESS_VERSION, DeviceName, Verdict

_MOST = 20_000


def since(
    session: Session, user: str, moment: datetime
) -> Sequence[tuple[datetime, Verdict | None]]:
    """When a user has submitted since a moment and what came of it; at most the latest 20,000."""
    query = select(SubmissionRow.created_at, SubmissionRow.verdict).where(
        SubmissionRow.user == user, SubmissionRow.created_at >= moment
    )
    rows = session.execute(query.order_by(SubmissionRow.number.desc()).limit(_MOST))
    return [(row[0], row[1]) for row in rows]


def boards(session: Session, user: str) -> Sequence[tuple[str, int, DeviceName]]:
    """Task, its version and device of each board by the present clock that a user stands on."""
    query = select(BoardRow.task, BoardRow.task_version, BoardRow.device).where(
        BoardRow.user == user, BoardRow.harness == HARNESS_VERSION
    )
    rows = session.execute(query.order_by(BoardRow.task, BoardRow.device))
    return [(row[0], row[1], row[2]) for row in rows]
