"""The board: each user's best accepted submission, kept as reports come in."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.store.tables import BoardRow, SubmissionRow
from kernels.contract import DeviceName, Report, Verdict


class Standing(NamedTuple):
    """A user's place on a board, before it is ranked."""

    user: str
    submission: str
    score: float
    low: float
    high: float
    finished_at: datetime


_KEY = ("task", "task_version", "device", "user")


def enter(session: Session, row: SubmissionRow, report: Report) -> None:
    """Put an accepted submission on its board if it is its user's best."""
    if report.verdict is not Verdict.ACCEPTED or report.score is None:
        return
    low, high = score_interval(report)
    insert = _insert(session)(BoardRow).values(
        **{name: getattr(row, name) for name in _KEY},
        submission=row.id,
        score=report.score,
        low=low,
        high=high,
        finished_at=row.finished_at,
    )
    new = insert.excluded
    changed = {name: new[name] for name in ("submission", "score", "low", "high", "finished_at")}
    session.execute(
        insert.on_conflict_do_update(
            index_elements=_KEY, set_=changed, where=new.score < BoardRow.score
        )
    )


def top(
    session: Session, task: str, version: int, device: DeviceName, limit: int
) -> Sequence[Standing]:
    """The best entries, fastest first; of equals the earlier."""
    rows = session.execute(
        select(*(getattr(BoardRow, name) for name in Standing._fields))
        .where(BoardRow.task == task, BoardRow.task_version == version, BoardRow.device == device)
        .order_by(BoardRow.score, BoardRow.finished_at, BoardRow.user)
        .limit(limit)
    )
    return [Standing(*row) for row in rows]


def size(session: Session, task: str, version: int, device: DeviceName) -> int:
    """How many users a board has."""
    query = select(func.count()).where(
        BoardRow.task == task, BoardRow.task_version == version, BoardRow.device == device
    )
    return session.scalar(query) or 0


def score_interval(report: Report) -> tuple[float, float]:
    """Where the score would lie if every benchmark case were at an end of its interval."""
    timings = [case.timing for case in report.cases if case.kind == "benchmark" and case.timing]
    score = report.score or math.nan
    low = min(_geometric_mean([timing.low for timing in timings], score), score)
    high = max(_geometric_mean([timing.high for timing in timings], score), score)
    return low, high


def _geometric_mean(values: list[float], otherwise: float) -> float:
    if not values:
        return otherwise
    return math.exp(sum(map(math.log, values)) / len(values))


def _insert(session: Session) -> type[sqlite.Insert] | type[postgresql.Insert]:
    return sqlite.Insert if session.get_bind().dialect.name == "sqlite" else postgresql.Insert
