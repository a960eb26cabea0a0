"""What the service can do: the functions behind both the API and the pages.

All but `wait` and `changes` block on the database and are meant for a worker thread.
Errors are those of `app.errors`; each knows its HTTP status and what to do next.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from app.schemas import (
    Board,
    Health,
    StageEntry,
    SubmissionDetail,
    SubmissionFilter,
    SubmissionPage,
    SubmitRequest,
    TaskDetail,
    TaskSummary,
)
from kernels.contract import DeviceName

LOCAL_USER = "local"
"""The one user of an installation without accounts."""


@dataclass(frozen=True)
class Submitted:
    """The answer to a submission."""

    submission: SubmissionDetail
    created: bool
    """False where an idempotency key named an earlier submission."""


class Service:
    """Reads and writes everything; one per process, safe to share between threads."""

    def list_tasks(self) -> tuple[TaskSummary, ...]:
        """All tasks by name."""
        raise NotImplementedError

    def task_detail(self, name: str) -> TaskDetail:
        """One task; NotFound."""
        raise NotImplementedError

    def submit(
        self, request: SubmitRequest, *, user: str = LOCAL_USER, idempotency_key: str | None = None
    ) -> Submitted:
        """Store a submission and queue it.

        Invalid, TooLarge, NotFound (task), Conflict (key), TooManyRequests, Unavailable.
        """
        raise NotImplementedError

    def submission_detail(self, submission: str) -> SubmissionDetail:
        """One submission; NotFound."""
        raise NotImplementedError

    def submission_source(self, submission: str) -> str:
        """The source as it was submitted; NotFound."""
        raise NotImplementedError

    def submission_plan(self, submission: str) -> bytes:
        """The packed launch plan; NotFound where none was built."""
        raise NotImplementedError

    def stages(self, submission: str, after: int = 0) -> tuple[StageEntry, ...]:
        """Log entries with an id greater than `after`, oldest first; NotFound."""
        raise NotImplementedError

    def list_submissions(
        self,
        wanted: SubmissionFilter | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
    ) -> SubmissionPage:
        """Submissions, newest first."""
        raise NotImplementedError

    def board(self, task: str, device: DeviceName, *, limit: int = 100) -> Board:
        """The top of a board; NotFound for an unknown task."""
        raise NotImplementedError

    def health(self) -> Health:
        """The truth about database, Redis, workers and queues; never raises."""
        raise NotImplementedError

    async def wait(self, submission: str, seconds: float) -> SubmissionDetail:
        """The submission when it is finished or `seconds` have passed; NotFound."""
        raise NotImplementedError

    def changes(self, submission: str) -> AsyncIterator[SubmissionDetail]:
        """The submission now and after each change, until it is finished; NotFound."""
        raise NotImplementedError
