"""Judging a source again: as a new submission, since a verdict never changes."""

from dataclasses import dataclass

from app import submitting, visibility
from app.errors import Conflict, NotFound
from app.roles import Scope
from app.schemas import SubmissionDetail, SubmitRequest
from app.service import Service, row_of
from app.store import audit, contests, submissions
from app.store.contest_tables import EntryRow
from app.store.submissions import Origin
from app.store.tables import SubmissionRow
from kernels.contract import Stage


@dataclass(frozen=True)
class Former:
    """What was judged, and is to be judged again."""

    row: SubmissionRow
    request: SubmitRequest
    entry: EntryRow | None
    """Its part in a contest that is not closed."""


def rejudge(service: Service, submission: str) -> SubmissionDetail:
    """Build and judge a finished submission's source anew, by the present version of its task;
    of one that was only checked, because that was asked for, the test cases alone.

    The new submission is its author's. The author pays for it as for any; an admin may ask too, and
    then it costs the author nothing and counts in a contest from when the first one was made.
    NotFound, Forbidden, Conflict (not finished), and for the author whatever submitting raises.
    """
    service.caller.require(Scope.SUBMIT)
    with service.store.read() as session:
        row = row_of(session, submission, service.caller)
        visibility.check_own(service.caller, row)
        if row.stage is not Stage.FINISHED:
            raise Conflict(f"submission {row.id} is not judged yet", "Wait for its verdict.")
        request = SubmitRequest(
            task=row.task,
            source=row.source,
            device=row.device,
            entry=row.entry,
            label=row.label,
            check_only=row.check_only,
        )
        former = Former(row, request, contests.open_entry(session, row.id))
    if row.user == service.caller.user:
        contest = former.entry.contest if former.entry else None
        return service.submit(request.model_copy(update={"contest": contest})).submission
    return _for_author(service, former)


def _for_author(service: Service, former: Former) -> SubmissionDetail:
    row, request = former.row, former.request
    folder = service.catalog.get(row.task)
    if folder is None:
        raise NotFound(f"there is no task {row.task} any more", "Choose another submission.")
    made = submitting.accept(request, folder.task, service.presence.measured_devices())
    origin = Origin(
        row.user, None, submitting.digest(request), row.label, check_only=row.check_only
    )
    with service.store.write() as session:
        submissions.insert(session, made, origin)
        if former.entry is not None:
            contests.enter_again(session, made.id, former.entry)
        told = {"user": row.user, "new": made.id}
        audit.note(session, service.caller.name, "judge again", told, about=row.id)
    service.turns.hand_out()
    return service.submission_detail(made.id)
