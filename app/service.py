"""What the service can do: the functions behind both the API and the pages.

All but `wait` and `changes` block on the database and are meant for a worker thread.
Errors are those of `app.errors`; each knows its HTTP status and what to do next.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from anyio.to_thread import run_sync
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import presenting, submitting, tasks, visibility
from app.accounts import LOCAL, Accounts, Caller, quotas
from app.accounts.identities import linked_to
from app.accounts.schemas import Me, QuotaUse
from app.attempts import Attempts
from app.boards import Boards, Rendered
from app.contests import entering
from app.contests.schemas import Standings
from app.errors import Conflict, NotFound, Unavailable
from app.health import HealthCheck
from app.hidden_cases import HiddenCases
from app.kept import Kept
from app.presence import Presence
from app.reruns import Dispatcher
from app.roles import Role, Scope
from app.schemas import (
    Board,
    BoardHistory,
    Health,
    HouseEntry,
    HouseRecord,
    StageEntry,
    SubmissionDetail,
    SubmissionFilter,
    SubmissionPage,
    SubmitRequest,
    TaskDetail,
    TaskSummary,
)
from app.settings import Settings
from app.store import Store, audit, contests, submissions, usage, users
from app.store.board import BoardName
from app.store.submissions import Origin
from app.store.tables import SubmissionRow
from app.turns import Turns
from app.updates import Updates
from kernels.catalog import Catalog, TaskFolder
from kernels.contract import DeviceName, Record, Stage, Submission, Track

Found = TypeVar("Found")

_SUBMISSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Submitted:
    """The answer to a submission."""

    submission: SubmissionDetail
    created: bool
    """False where an idempotency key named an earlier submission."""


@dataclass(frozen=True)
class Service:
    """Reads and writes everything; one per process, safe to share between threads."""

    settings: Settings
    catalog: Catalog
    store: Store
    attempts: Attempts
    turns: Turns
    presence: Presence
    checkup: HealthCheck
    updates: Updates
    accounts: Accounts
    reruns: Dispatcher
    boards: Boards
    records: Mapping[tuple[str, DeviceName], Record] = field(default_factory=dict)
    """House entries by task and device."""
    standings: Kept[Standings] = field(default_factory=Kept)
    """Of contests."""
    caller: Caller = LOCAL
    """For whom it reads and writes."""

    def on_behalf_of(self, caller: Caller) -> Self:
        """The same service, which shows and does what that caller may see and do."""
        return replace(self, caller=caller)

    def list_tasks(self) -> tuple[TaskSummary, ...]:
        """All tasks by name."""
        return tuple(tasks.summarise(folder.task) for folder in self.catalog.values())

    def task_detail(self, name: str) -> TaskDetail:
        """One task; NotFound."""
        measured = self.presence.measured_devices()
        default = submitting.default_device(measured)
        devices = dict.fromkeys((default, *measured, *DeviceName))
        return tasks.describe(self._folder(name), tuple(devices))

    def tracks(self) -> tuple[Track, ...]:
        """The courses over the tasks."""
        return self.catalog.tracks

    def house_entries(self) -> tuple[HouseEntry, ...]:
        """What comes with the project for all tasks and devices."""
        return tuple(map(presenting.house_entry, self.records.values()))

    def house_entry(self, task: str, device: DeviceName) -> HouseEntry | None:
        """What comes with the project for a board; None if nothing does."""
        record = self.records.get((task, device))
        return None if record is None else presenting.house_entry(record)

    def house_record(self, task: str, device: DeviceName) -> HouseRecord:
        """The same with its report; NotFound."""
        record = self.records.get((task, device))
        if record is None:
            raise NotFound(
                f"no record comes with the project for {task[:64]!r} on {device.value}",
                "Read /api/v1/records for those that do.",
            )
        return HouseRecord(**dict(presenting.house_entry(record)), report=record.report)

    def submit(
        self,
        request: SubmitRequest,
        *,
        user: str | None = None,
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Store a submission, by default the caller's, and queue it.

        Invalid, TooLarge, NotFound (task, contest), Forbidden (contest), Conflict (key),
        TooManyRequests, Unavailable.
        """
        self.caller.require(Scope.SUBMIT)
        user = user or self.caller.name
        task = self._folder(request.task).task
        request = entering.fitted(self.store, request)
        submission = submitting.accept(request, task, self.presence.measured_devices())
        digest = submitting.digest(request)
        origin = Origin(
            user, idempotency_key, digest, request.label, request.contest, request.check_only
        )
        try:
            name, created = self._insert(submission, origin)
        except IntegrityError:  # the same key arrived twice at once
            name, created = self._insert(submission, origin)
        if created:
            self.turns.hand_out()
        return Submitted(self.submission_detail(name), created)

    def submission_detail(self, submission: str) -> SubmissionDetail:
        """One submission; NotFound."""
        with self.store.read() as session:
            row = row_of(session, submission, self.caller)
            detail = self.hidden(row.task).detail(presenting.detail(session, row))
            if visibility.sees_source(session, self.settings.sources, self.caller, row):
                return detail
        return visibility.without_source(detail)

    def cancel(self, submission: str) -> SubmissionDetail:
        """End a submission unless it is finished; harmless if repeated. NotFound, Forbidden."""
        self.caller.require(Scope.SUBMIT)
        with self.store.read() as session:
            row = row_of(session, submission, self.caller)
            visibility.check_own(self.caller, row)
        if self.attempts.cancel(submission):
            self.turns.hand_out()
            self._note_of_others(row, "cancel")
        return self.submission_detail(submission)

    def submission_source(self, submission: str) -> str:
        """The source as it was submitted; NotFound, Forbidden."""
        with self.store.read() as session:
            return self._open(session, submission).source

    def submission_plan(self, submission: str) -> bytes:
        """The packed launch plan; NotFound where none was built, Forbidden."""
        with self.store.read() as session:
            plan = submissions.plan(session, self._open(session, submission))
        if plan is None:
            raise NotFound(
                f"submission {submission} has no launch plan",
                "Read its report: it was not built, or not yet.",
            )
        return plan

    def stages(self, submission: str, after: int = 0) -> tuple[StageEntry, ...]:
        """Log entries with an id greater than `after`, oldest first; NotFound."""
        with self.store.read() as session:
            rows = submissions.stages(session, row_of(session, submission, self.caller), after)
            return tuple(map(presenting.stage, rows))

    def list_submissions(
        self,
        wanted: SubmissionFilter | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
    ) -> SubmissionPage:
        """Submissions, newest first."""
        before = None if cursor is None else int(cursor)
        hidden = () if self.caller.is_admin else (contests.sealed(self.caller.user),)
        wanted = wanted or SubmissionFilter()
        with self.store.read() as session:
            rows = submissions.page(session, wanted, before, limit + 1, *hidden)
        shown = rows[:limit]
        return SubmissionPage(
            items=tuple(self.hidden(row.task).summary(presenting.summary(row)) for row in shown),
            next_cursor=str(shown[-1].number) if len(rows) > limit else None,
        )

    def hidden(self, task: str) -> HiddenCases:
        """What of a task's cases is kept from who asks."""
        folder = None if self.caller.is_admin else self.catalog.get(task)
        return HiddenCases.of(folder.task if folder else None)

    def board(self, task: str, device: DeviceName, *, limit: int = 100) -> Board:
        """The top of a board; NotFound for an unknown task."""
        return self.rendered_board(task, device, limit=limit).board

    def rendered_board(self, task: str, device: DeviceName, *, limit: int = 100) -> Rendered:
        """The same with its JSON; NotFound for an unknown task."""
        version = self._folder(task).task.version
        return self.boards.get(BoardName(task, version, device), limit)

    def board_history(self, task: str, device: DeviceName) -> BoardHistory:
        """How a board's best time came down; NotFound for an unknown task."""
        known = self._folder(task).task
        name = BoardName(task, known.version, device)
        return BoardHistory(
            **name._asdict(),
            floor=tasks.floor(known, device),
            records=tuple(map(presenting.record, self.boards.records(name))),
        )

    def health(self) -> Health:
        """The truth about database, Redis, workers and queues, without names for nobody known;
        never raises."""
        health = self.checkup.look()
        if Scope.READ in self.caller.scopes:
            return health
        return health.model_copy(update={"workers": (), "queues": ()})

    def me(self) -> Me:
        """Who asks, and what is used of the quotas; Unauthorised for nobody."""
        name = self.caller.name
        with self.store.read() as session:
            row = users.by_name(session, name)
            linked = linked_to(session, name)
        return Me(
            user=name,
            role=Role.ADMIN if row is None else row.role,
            scopes=tuple(sorted(self.caller.scopes)),
            quotas=self.quotas_of(name),
            has_password=row is not None and bool(row.password),
            identities=linked,
        )

    def quotas_of(self, user: str) -> QuotaUse:
        """What a user has used."""
        with self.store.read() as session:
            return quotas.used(session, self.settings, user)

    async def wait(self, submission: str, seconds: float) -> SubmissionDetail:
        """The submission when it is finished or `seconds` have passed; NotFound."""
        return await self.wait_until(
            submission,
            seconds,
            lambda: run_sync(self.submission_detail, submission),
            lambda detail: detail.stage is Stage.FINISHED,
        )

    async def wait_until(
        self,
        name: str,
        seconds: float,
        look: Callable[[], Awaitable[Found]],
        done: Callable[[Found], bool],
    ) -> Found:
        """What `look` finds when it is done, or `seconds` have passed; it looks when `name`, a
        submission or a rerun, changes."""
        deadline = time.monotonic() + seconds
        with self.updates.watch(name) as changed:
            while True:
                changed.clear()
                found = await look()
                left = deadline - time.monotonic()
                if done(found) or left <= 0 or self.updates.closed:
                    return found
                await _set_within(changed, min(left, self.updates.patience))

    async def changes(self, submission: str) -> AsyncIterator[SubmissionDetail]:
        """The submission now and after each change, until it is finished; NotFound."""
        last = None
        with self.updates.watch(submission) as changed:
            while True:
                changed.clear()
                detail = await run_sync(self.submission_detail, submission)
                if detail != last:
                    yield detail
                last = detail
                if detail.stage is Stage.FINISHED or self.updates.closed:
                    return
                await _set_within(changed, self.updates.patience)

    def _note_of_others(self, row: SubmissionRow, act: str) -> None:
        """Write down what an admin did to somebody else's submission."""
        if row.user != self.caller.user:
            with self.store.write() as session:
                audit.note(session, self.caller.name, act, {"user": row.user}, about=row.id)

    def _open(self, session: Session, submission: str) -> SubmissionRow:
        """A submission whose source the caller may see; NotFound, Forbidden."""
        row = row_of(session, submission, self.caller)
        visibility.check_source(session, self.settings.sources, self.caller, row)
        return row

    def _folder(self, name: str) -> TaskFolder:
        folder = self.catalog.get(name)
        if folder is None:
            known = ", ".join(self.catalog)
            raise NotFound(f"no task is called {name[:64]!r}", f"Choose one of: {known}.")
        return folder

    def _insert(self, submission: Submission, origin: Origin) -> tuple[str, bool]:
        """Id of the new submission, or of the one that has the key already."""
        with self.store.write() as session:
            if origin.idempotency_key is not None:
                earlier = submissions.by_key(session, origin.user, origin.idempotency_key)
                if earlier is not None:
                    return _same(earlier, origin), False
            self._admit(session, submission, origin.user)
            if origin.contest is not None:
                entering.admit(session, origin.contest, origin.user, submission.id)
            return submissions.insert(session, submission, origin).id, True

    def _admit(self, session: Session, submission: Submission, user: str) -> None:
        """Charge the user, unless a quota is used up or the queue is full."""
        most = self._folder(submission.task).task.limits.measure if submission.measured else 0.0
        quotas.admit(session, self.settings, user, most)
        usage.charge(session, submission.id, user, most)
        if submissions.waiting(session) >= self.settings.waiting_limit:
            raise Unavailable("the queue is full", "Submit again in half a minute.", retry_after=30)


def _same(earlier: SubmissionRow, origin: Origin) -> str:
    if earlier.body_sha256 != origin.body_sha256:
        raise Conflict(
            f"the idempotency key was used for submission {earlier.id}, which is another one",
            "Use a new key for each submission.",
        )
    return earlier.id


def row_of(session: Session, submission: str, caller: Caller) -> SubmissionRow:
    """A submission by its public name; NotFound, also for one that the caller may not know of."""
    known = _SUBMISSION_ID.fullmatch(submission)
    row = submissions.by_id(session, submission) if known else None
    if row is None or not visibility.sees(session, caller, row):
        raise NotFound(
            f"there is no submission {submission[:64]!r}", "Look it up in the list of submissions."
        )
    return row


async def _set_within(changed: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(changed.wait(), seconds)
    except TimeoutError:
        return
