"""The boards of a contest, and the places over all of its tasks. docs/contests.md defines both."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app import clock, ranking
from app.contests.entering import row_of
from app.contests.schemas import ContestBoard, OwnBest, Standings, Total
from app.roles import Scope
from app.schemas import BoardEntry
from app.service import Service
from app.store import contests
from app.store.board import BoardName, Standing, versions
from app.store.contest_tables import ContestRow
from kernels.contract import HARNESS_VERSION


def standings(service: Service, contest: str) -> Standings:
    """As the caller may see them now; the final ones once they are stored. NotFound."""
    service.caller.require(Scope.READ)
    with service.store.read() as session:
        row = row_of(session, contest)
        if row.closed_at is not None:
            return service.standings.get(contest, row.closed_at, lambda: _stored(session, row))
        frozen = is_frozen(service, row)
        found = service.standings.get(
            (contest, frozen),
            _version(service, session, row),
            lambda: worked_out(service, session, row, frozen=frozen),
        )
        return found.model_copy(update={"own": _own_bests(service, session, row)})


def is_frozen(service: Service, contest: ContestRow) -> bool:
    """Whether boards leave out what came after the freeze."""
    frozen = contest.frozen_at is not None and contest.frozen_at <= clock.now()
    return frozen and contest.closed_at is None and not service.caller.is_admin


def worked_out(
    service: Service, session: Session, contest: ContestRow, *, frozen: bool, final: bool = False
) -> Standings:
    """All boards from what is in the database, without anybody's own best."""
    found = _versions(service, contest)
    before = contest.frozen_at if frozen else None
    rows = _best(service, session, contest, before=before)
    boards = tuple(_board(task, version, rows) for task, version in found.items())
    return Standings(
        contest=contest.name,
        device=contest.device,
        at=clock.now(),
        final=final,
        frozen=frozen,
        totals=totals(boards),
        boards=boards,
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


def _best(service: Service, session: Session, contest: ContestRow, **which: Any) -> Sequence[Any]:
    """Each entrant's best, or one's, for each task."""
    found, measured = _versions(service, contest), _measured(session, contest)
    return contests.best(session, contest, found, HARNESS_VERSION, measured=measured, **which)


def _own_bests(service: Service, session: Session, contest: ContestRow) -> dict[str, OwnBest]:
    own = contests.entrant_of(session, contest.name, service.caller.user)
    if own is None:
        return {}
    return {row.task: _own(row) for row in _best(service, session, contest, entrant=own.id)}


def _stored(session: Session, contest: ContestRow) -> Standings:
    body = contests.final(session, contest.name)
    assert body is not None  # stored in the transaction that closed it
    return Standings.model_validate_json(body)


def _version(service: Service, session: Session, contest: ContestRow) -> tuple[object, ...]:
    """What changes whenever the boards may; read before them."""
    found = _versions(service, contest)
    names = [BoardName(task, version, contest.device) for task, version in found.items()]
    changes = contests.version(session, contest.name)
    return (HARNESS_VERSION, contest.frozen_at, tuple(names), changes, versions(session, names))


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
