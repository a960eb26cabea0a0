"""The boards of a contest, and the places over all of its tasks. docs/contests.md defines both."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
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
    measured, versions = _measured(session, contest), _versions(service, contest)
    look = partial(contests.best, session, contest, versions, HARNESS_VERSION, measured=measured)
    rows = look(before=contest.frozen_at if frozen else None)
    boards = tuple(_board(task, versions[task], rows) for task in versions)
    mine = look(entrant=own.id) if own is not None else ()
    return Standings(
        contest=contest.name,
        device=contest.device,
        at=clock.now(),
        final=final,
        frozen=frozen,
        totals=totals(boards),
        boards=boards,
        own={row.task: _own(row) for row in mine},
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


def _versions(service: Service, contest: ContestRow) -> dict[str, int]:
    """The present version of each of its tasks; 0 for one that is not there any more."""
    found = {task: service.catalog.get(task) for task in contest.tasks.split()}
    return {task: folder.task.version if folder else 0 for task, folder in found.items()}


def _board(task: str, version: int, rows: Sequence[Any]) -> ContestBoard:
    """The board of one task among all rows."""
    places = list(_standings([row for row in rows if row.task == task]))
    return ContestBoard(
        task=task, task_version=version, harness=HARNESS_VERSION, entries=ranking.rank(places)
    )


def _measured(session: Session, contest: ContestRow) -> set[str]:
    """Submissions that were chosen to be measured again after the end."""
    return contests.measured_by(session, contests.final_reruns(session, contest.name))


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
