"""Asking for reruns: who may, of what, and how often."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import redis
from sqlalchemy.orm import Session

from app import visibility
from app.accounts import quotas
from app.errors import Conflict, NotFound, TooLarge, TooManyRequests, Unavailable
from app.reruns import presenting
from app.reruns.schemas import RerunDetail
from app.roles import Scope
from app.service import Service, row_of
from app.store import audit, board, reruns, submissions, usage
from app.store.tables import SubmissionRow
from kernels.contract import DeviceName, Report, Task, Verdict, limits
from kernels.contract.rerun import MOST_PLANS, RerunKind

MOST_SITTINGS = 24
"""That may be asked for of one submission."""

MOST_INSPECTIONS = 24
_PLAN_BYTES = 2 * limits.BUNDLE_BYTES
"""Of all plans of one rerun, since Redis holds them."""

_OLDER = "the measurer does not know of inspections: update it to the service's release"

LOOKED_AT = {
    Verdict.ACCEPTED,
    Verdict.IMPLAUSIBLE,
    Verdict.WRONG_ANSWER,
    Verdict.MEMORY_VIOLATION,
    Verdict.UNSTABLE,
    Verdict.RUNTIME_ERROR,
}
"""Verdicts of plans whose kernels run, and end."""


@dataclass(frozen=True)
class Asked:
    """The answer to a request."""

    rerun: RerunDetail
    created: bool
    """False where the same was asked for and has not ended."""


def remeasure(service: Service, submission: str) -> Asked:
    """Measure an accepted submission once more; harmless while that is under way.

    NotFound, Forbidden, Conflict, TooManyRequests.
    """
    service.caller.require(Scope.SUBMIT)
    with service.store.write() as session:
        row = row_of(session, submission, service.caller)
        visibility.check_own(service.caller, row)
        known = _lock(session, row, RerunKind.MEASURE)
        created = known is None
        if known is None:
            _check_accepted(service, session, row)
            known = _insert(service, session, [row], RerunKind.MEASURE, 1)
    return _asked(service, known, created)


def inspect(service: Service, submission: str, kind: RerunKind) -> Asked:
    """Look at a submission's plan with a tool; harmless while that is under way.

    NotFound, Forbidden, Conflict, TooManyRequests; Unavailable where no measurer has the tool.
    """
    service.caller.require(Scope.SUBMIT)
    with service.store.read() as session:
        device = row_of(session, submission, service.caller).device
    problem = offers(service, device)[kind]  # writes at times, so not within a transaction
    with service.store.write() as session:
        row = row_of(session, submission, service.caller)
        visibility.check_own(service.caller, row)
        known = _lock(session, row, kind)
        created = known is None
        if known is None:
            _check_sound(service, session, row)
            _check_offered(problem)
            known = _insert(service, session, [row], kind, 1)
    return _asked(service, known, created)


def remeasure_board(
    service: Service, task: str, device: DeviceName, top: int, rounds: int
) -> Asked:
    """Measure the top entries of a board together, in turns; for admins.

    NotFound, Forbidden, Conflict where one is being measured already, TooLarge, TooManyRequests.
    """
    service.caller.require(Scope.ADMIN)
    entries = service.board(task, device, limit=top).entries
    if not entries:
        raise NotFound("nobody stands on that board", "Choose a board with entries.")
    return remeasure_together(service, [entry.submission for entry in entries], rounds)


def remeasure_together(service: Service, names: Sequence[str], rounds: int) -> Asked:
    """Measure accepted submissions for one task in turns; for admins.

    NotFound, Forbidden, Conflict where one is being measured already, TooLarge, TooManyRequests.
    """
    service.caller.require(Scope.ADMIN)
    with service.store.write() as session:
        rows = [row_of(session, name, service.caller) for name in names]
        for row in sorted(rows, key=lambda row: row.number):
            if _lock(session, row, RerunKind.MEASURE) is not None:
                raise Conflict(
                    f"submission {row.id} is being measured again already",
                    "Ask again when that has ended; its page shows it.",
                )
            _check_accepted(service, session, row, rounds)
        known = _insert(service, session, rows, RerunKind.MEASURE, rounds, charged=False)
    return _asked(service, known, True)


def offers(service: Service, device: DeviceName) -> dict[RerunKind, str]:
    """Why each inspection cannot be had now, and what to do; empty where it can."""
    kinds = [kind for kind in RerunKind if kind.inspects]
    try:
        workers = service.presence.workers()
    except redis.RedisError:
        return dict.fromkeys(kinds, "the queue does not answer: ask again in a while")
    there = [worker for worker in workers if worker.role == "measure" and worker.device is device]
    nobody = f"no measurer of an {device} is there now: start one"
    found = {}
    for kind in kinds:
        answers = [worker.inspections.get(kind, _OLDER) for worker in there]
        found[kind] = "" if "" in answers else next(iter(answers), nobody)
    return found


def _lock(session: Session, row: SubmissionRow, kind: RerunKind) -> str | None:
    """The rerun of that kind that is under way; nobody else asks for one meanwhile."""
    reruns.lock_submission(session, row)
    return reruns.unfinished_of(session, row, kind)


def _check_accepted(
    service: Service, session: Session, row: SubmissionRow, rounds: int = 1
) -> None:
    standing = board.standing(session, row)
    if standing is None:
        raise Conflict(
            f"submission {row.id} was not accepted, and a verdict does not change",
            "Submit it again to have it judged again.",
        )
    if standing.held:
        raise Conflict(f"submission {row.id} is held: {standing.held}", "Submit it again.")
    _check_version(service, row)
    if reruns.asked(session, row)[0] + rounds > MOST_SITTINGS:
        raise TooManyRequests(
            f"submission {row.id} was measured again {MOST_SITTINGS} times, or would be",
            "Its interval will hardly change any more.",
        )


def _check_sound(service: Service, session: Session, row: SubmissionRow) -> None:
    if row.verdict not in LOOKED_AT or not row.measured:
        raise Conflict(
            f"submission {row.id} has no plan that ran to its end on a GPU",
            "Look at one that did; this one's report says what it lacks.",
        )
    body = submissions.report(session, row)
    if body is None or Report.model_validate_json(body).rebuilt != "identical":
        raise Conflict(
            "its kernels were not compiled again identically, so no tool is run on them",
            "Submit it again.",
        )
    _check_version(service, row)
    if reruns.asked(session, row)[1] >= MOST_INSPECTIONS:
        raise TooManyRequests(
            f"submission {row.id} was looked at {MOST_INSPECTIONS} times", "Read what was found."
        )


def _check_version(service: Service, row: SubmissionRow) -> None:
    version = _task(service, row).version
    if row.task_version != version:
        raise Conflict(
            f"the task is at version {version}, the submission was judged by {row.task_version}",
            "Submit it again.",
        )


def _task(service: Service, row: SubmissionRow) -> Task:
    folder = service.catalog.get(row.task)
    if folder is None:
        raise Conflict(f"there is no task {row.task} any more", "Choose another submission.")
    return folder.task


def _check_offered(problem: str) -> None:
    if problem:
        reason, _, remedy = problem.partition(": ")
        raise Unavailable(reason, f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "Ask later.")


def _insert(
    service: Service,
    session: Session,
    rows: list[SubmissionRow],
    kind: RerunKind,
    rounds: int,
    *,
    charged: bool = True,
) -> str:
    settings, user = service.settings, service.caller.name
    if len(reruns.unfinished(session)) >= settings.rerun_limit:
        raise TooManyRequests(
            f"{settings.rerun_limit} reruns have not ended", "Ask again later.", retry_after=60
        )
    size = reruns.plan_size(session, rows)
    if size is None or len(rows) > MOST_PLANS:
        raise Conflict("a launch plan is not stored any more", "Submit it again.")
    if size > _PLAN_BYTES:
        raise TooLarge("these plans are too large to be measured together", "Name fewer.")
    name = f"r{secrets.token_hex(8)}"
    if charged:
        most = _task(service, rows[0]).limits.measure
        quotas.admit(session, settings, user, most)
        usage.charge(session, name, user, most)
    reruns.insert(session, name, rows, kind, rounds, user)
    if any(row.user != user for row in rows):
        told = {"kind": kind, "submissions": [row.id for row in rows], "rounds": rounds}
        audit.note(session, user, "measure again", told, about=name)
    return name


def _asked(service: Service, rerun: str, created: bool) -> Asked:
    if created:
        service.reruns.start(rerun)
    return Asked(presenting.rerun_detail(service, rerun), created)
