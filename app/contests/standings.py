"""The boards of a contest, and the places over all of its tasks. docs/contests.md defines both."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app import clock, ranking
from app.contests.entering import row_of
from app.contests.schemas import ContestBoard, OwnBest, Standings, Total
from app.roles import Scope
from app.schemas import BoardEntry
from app.service import Service
from app.store import contests
from app.store.board import Standing
from app.store.contest_tables import ContestRow
from kernels.contract import HARNESS_VERSION


def standings(service: Service, contest: str) -> Standings:
    """As the caller may see them now; the final ones once they are stored. NotFound."""
    service.caller.require(Scope.READ)
    with service.store.read() as session:
        row = row_of(session, contest)
        stored = contests.final(session, contest)
        if stored is not None:
            return Standings.model_validate_json(stored)
        return worked_out(service, session, row, frozen=is_frozen(service, row))


def is_frozen(service: Service, contest: ContestRow) -> bool:
    """Whether boards leave out what came after the freeze."""
    frozen = contest.frozen_at is not None and contest.frozen_at <= clock.now()
    return frozen and contest.closed_at is None and not service.caller.is_admin


def worked_out(
    service: Service, session: Session, contest: ContestRow, *, frozen: bool, final: bool = False
) -> Standings:
    """All boards from what is in the database."""
    own = None if final else contests.entrant_of(session, contest.name, service.caller.user)
    measured = _measured(session, contest)
    boards: list[ContestBoard] = []
    best: dict[str, OwnBest] = {}
    for task in contest.tasks.split():
        folder = service.catalog.get(task)
        version = folder.task.version if folder else 0
        rows = contests.accepted(session, contest, task, version, HARNESS_VERSION)
        if own is not None:
            mine = next((row for row in rows if row.entrant == own.name), None)
            if mine is not None:
                best[task] = _own(mine)
        if frozen and contest.frozen_at is not None:
            rows = [row for row in rows if row.at < contest.frozen_at]
        boards.append(
            ContestBoard(
                task=task,
                task_version=version,
                harness=HARNESS_VERSION,
                entries=ranking.rank(_best(rows, measured)),
            )
        )
    return Standings(
        contest=contest.name,
        device=contest.device,
        at=clock.now(),
        final=final,
        frozen=frozen,
        totals=totals(boards),
        boards=tuple(boards),
        own=best,
    )


def totals(boards: Sequence[ContestBoard]) -> tuple[Total, ...]:
    """Places over all tasks, the most points first; of equals the earlier name."""
    points = {entry.user: dict[str, BoardEntry]() for board in boards for entry in board.entries}
    for board in boards:
        for entry in board.entries:
            points[entry.user][board.task] = entry
    sums = [_sum(entrant, solved) for entrant, solved in points.items()]
    sums.sort(key=lambda total: (-total.points, total.entrant))
    ranks = ranking.ranks_of([(-total.high, -total.low) for total in sums])
    shared = Counter(ranks)
    return tuple(
        total.model_copy(update={"rank": rank, "tied": shared[rank] > 1})
        for total, rank in zip(sums, ranks, strict=True)
    )


def _sum(entrant: str, solved: dict[str, BoardEntry]) -> Total:
    # behind is the entrant's score / the best one's, so points are its inverse
    by_task = {task: 1 / entry.behind for task, entry in solved.items()}
    points = sum(by_task.values())
    low = sum(by_task[task] * entry.score / entry.high for task, entry in solved.items())
    high = sum(by_task[task] * entry.score / entry.low for task, entry in solved.items())
    return Total(
        rank=0,
        tied=False,
        entrant=entrant,
        points=points,
        low=min(low, points),
        high=max(high, points),
        by_task=by_task,
    )


def _measured(session: Session, contest: ContestRow) -> set[str]:
    """Submissions that were chosen to be measured again after the end."""
    return contests.measured_by(session, contests.final_reruns(session, contest.name))


def _best(rows: Sequence[Any], measured: Collection[str]) -> list[Standing]:
    """Each entrant's: what was measured again after the end, otherwise the fastest."""
    chosen: dict[str, Any] = {}
    for row in (*(row for row in rows if row.submission in measured), *rows):
        chosen.setdefault(row.entrant, row)
    return list(_standings(sorted(chosen.values(), key=lambda row: (row.score, row.finished_at))))


def _standings(rows: Sequence[Any]) -> Iterator[Standing]:
    for row in rows:
        yield Standing(
            user=row.entrant,
            submission=row.submission,
            score=row.score,
            low=row.low,
            high=row.high,
            sittings=row.sittings,
            finished_at=row.finished_at,
        )


def _own(row: Any) -> OwnBest:
    return OwnBest(submission=row.submission, score=row.score, low=row.low, high=row.high)
