"""What a list of all tasks tells: each board's first entry, and what one user has solved."""

from typing import NamedTuple

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from app.store.tables import BoardRow, ReportRow, SubmissionRow
from kernels.contract import HARNESS_VERSION, DeviceName, Verdict


class First(NamedTuple):
    """The first entry of a board."""

    task: str
    task_version: int
    user: str
    submission: str
    score: float
    report: str
    """As JSON."""


def firsts(session: Session, device: DeviceName) -> dict[tuple[str, int], First]:
    """The first entries of all boards of a device, by task and its version."""
    board = (BoardRow.task, BoardRow.task_version)
    order = (BoardRow.score, BoardRow.finished_at, BoardRow.user)
    place = func.row_number().over(partition_by=board, order_by=order).label("place")
    ranked = (
        select(*board, BoardRow.user, BoardRow.submission, BoardRow.score, place)
        .where(BoardRow.device == device, BoardRow.harness == HARNESS_VERSION)
        .subquery()
    )
    columns = [ranked.c[name] for name in First._fields[:-1]]
    rows = session.execute(
        select(*columns, ReportRow.body)
        .join(SubmissionRow, SubmissionRow.id == ranked.c.submission)
        .join(ReportRow, ReportRow.submission == SubmissionRow.number)
        .where(ranked.c.place == 1)
    )
    return {(row[0], row[1]): First._make(row) for row in rows}


def solved(session: Session, user: str) -> dict[str, bool]:
    """By each task that a user has submitted to: whether one of the submissions passed."""
    passed = [verdict for verdict in Verdict if verdict.passed]
    found = func.max(case((SubmissionRow.verdict.in_(passed), 1), else_=0))
    query = select(SubmissionRow.task, found).where(SubmissionRow.user == user)
    return {task: bool(any_) for task, any_ in session.execute(query.group_by(SubmissionRow.task))}
