"""The end of a contest: the best are measured again together, then the standings are stored."""

from sqlalchemy.orm import Session

from app.contests.entering import row_of
from app.contests.hosting import note, open_row
from app.contests.schemas import FinalRerun, Finals, Phase, Standings
from app.contests.standings import worked_out
from app.contests.taking_part import phase
from app.errors import Conflict
from app.reruns.requests import remeasure_together
from app.roles import Scope
from app.service import Service
from app.store import board, contests, webhooks
from app.store.contest_tables import ContestRow, FinalRerunRow, FinalRow
from kernels.contract.rerun import RerunState


def finals_of(service: Service, contest: str) -> Finals:
    """How far the measuring after the end is; Forbidden, NotFound."""
    service.caller.require(Scope.ADMIN)
    with service.store.read() as session:
        return _finals(service, session, row_of(session, contest))


def remeasure(service: Service, contest: str) -> Finals:
    """Measure the best of each task together where that is not done or under way.

    Forbidden, NotFound, Conflict before the end, TooManyRequests.
    """
    with service.store.write() as session:
        row = _ended(service, session, contest)
        found, rounds = _finals(service, session, row), row.final_rounds
        note(service, session, contest, "remeasure", {"missing": found.missing})
    tops = {task: top for task, top in _tops(service, contest).items() if task in found.missing}
    for task, top in tops.items():
        if task in found.under_way:
            continue
        asked = remeasure_together(service, top, rounds)
        with service.store.write() as session:
            session.add(FinalRerunRow(rerun=asked.rerun.id, contest=contest, task=task))
    return finals_of(service, contest)


def close(service: Service, contest: str, *, unmeasured: bool) -> Standings:
    """Store the standings for good, and show what was sealed.

    Forbidden, NotFound; Conflict before the end, or while some of the best are being measured again
    or were not.
    """
    with service.store.write() as session:
        row = _ended(service, session, contest)
        end = _finals(service, session, row)
        if not unmeasured:
            _check_measured(end)
        found = worked_out(service, session, row, frozen=False, final=True)
        found = found.model_copy(update={"unmeasured": end.missing})
        row.closed_at = found.at
        session.add(FinalRow(contest=contest, at=found.at, body=found.model_dump_json()))
        note(service, session, contest, "close", {"unmeasured": end.missing})
        places = [{"rank": t.rank, "entrant": t.entrant, "points": t.points} for t in found.totals]
        webhooks.of_contest(session, contest, webhooks.CLOSED, {"places": places})
        session.flush()
        board.unseal(session, contest)
    return found


def _ended(service: Service, session: Session, contest: str) -> ContestRow:
    row = open_row(service, session, contest)
    if phase(row) is not Phase.ENDED:
        raise Conflict(
            f"contest {contest} ends at {row.ends_at.isoformat()}", "Wait, or move its end."
        )
    left = contests.unfinished(session, contest)
    if left:
        raise Conflict(
            f"{left} submissions for {contest} are not judged yet", "Wait for their verdicts."
        )
    return row


def _check_measured(end: Finals) -> None:
    if end.under_way:
        raise Conflict(
            f"the best of {', '.join(end.under_way)} are being measured again",
            "Wait until that is done, or say that some may be missing (field `unmeasured`).",
        )
    if end.missing:
        raise Conflict(
            f"the best of {', '.join(end.missing)} are not measured again yet",
            "Let them be measured, or say that some may be missing (field `unmeasured`).",
        )


def _finals(service: Service, session: Session, row: ContestRow) -> Finals:
    known = contests.final_reruns(session, row.name)
    done = [rerun for rerun, (_, state) in known.items() if state is RerunState.DONE]
    measured = contests.measured_by(session, done)
    missing = {}
    for task, top in _top_of(service, session, row).items():
        left = tuple(name for name in top if name not in measured)
        if left:
            missing[task] = left
    reruns = (FinalRerun(rerun=name, task=t, state=state) for name, (t, state) in known.items())
    return Finals(reruns=tuple(reruns), missing=missing)


def _tops(service: Service, contest: str) -> dict[str, tuple[str, ...]]:
    with service.store.read() as session:
        return _top_of(service, session, row_of(session, contest))


def _top_of(service: Service, session: Session, row: ContestRow) -> dict[str, tuple[str, ...]]:
    """By task, the submissions that are to be measured again."""
    found = worked_out(service, session, row, frozen=False)
    return {
        board.task: tuple(entry.submission for entry in board.entries[: row.final_top])
        for board in found.boards
    }
