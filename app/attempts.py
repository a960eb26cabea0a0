"""Starting attempts, giving them up and telling everyone who watches."""

import logging

import redis

from app import clock
from app.leases import turn_away
from app.queue import JobQueue
from app.store import Store, progress, submissions
from app.store.progress import Attempt
from app.store.tables import SubmissionRow
from kernels.catalog import Catalog
from kernels.contract import Report, TimeLimits, Verdict

MAX_ATTEMPTS = 3
UPDATES = "updates"
"""Pub/sub channel; a message is the id of a submission that changed."""

_log = logging.getLogger(__name__)


class Attempts:
    """Queues attempts: first the database, then Redis, so that a dead Redis loses nothing."""

    def __init__(
        self, store: Store, queue: JobQueue, connection: redis.Redis, catalog: Catalog
    ) -> None:
        self._store = store
        self._queue = queue
        self._redis = connection
        self._catalog = catalog

    def enqueue(self, submission: str) -> bool:
        """Queue the present attempt; False if Redis fails, then the reaper does it later."""
        with self._store.read() as session:
            row = submissions.by_id(session, submission)
            if row is None:
                return False
            payload = submissions.payload(row, row.source)
        try:
            self._queue.enqueue(payload, self._limits(row.task))
        except redis.RedisError as error:
            _log.warning("submission %s stays to be queued: %s", submission, error)
            return False
        self.announce(submission)
        return True

    def give_up(self, attempt: Attempt, reason: str) -> None:
        """Start over, or end with a judge error if that has been tried often enough."""
        if attempt.number >= MAX_ATTEMPTS:
            self.fail(attempt, f"the judge failed {MAX_ATTEMPTS} times, last because {reason}")
            return
        with self._store.write() as session:
            restarted = progress.restart(session, attempt, reason)
        if restarted is not None:
            _log.warning("%s: attempt %d given up: %s", *_names(attempt), reason)
            self._stop(attempt)
            self.enqueue(attempt.submission)

    def fail(self, attempt: Attempt, reason: str) -> None:
        """End a submission with a judge error."""
        with self._store.write() as session:
            row = submissions.by_id(session, attempt.submission)
            ended = row is not None and progress.finish(
                session, _end(row, attempt, Verdict.JUDGE_ERROR, reason)
            )
        if ended:
            _log.error("%s: attempt %d ends in a judge error: %s", *_names(attempt), reason)
            self._stop(attempt)
            self.announce(attempt.submission)

    def cancel(self, submission: str) -> bool:
        """End a submission that nobody waits for any more; False if it has ended already."""
        with self._store.write() as session:
            row = submissions.by_id(session, submission)
            if row is None:
                return False
            attempt = Attempt(submission, row.attempt)
            reason = "cancelled before it was judged"
            ended = progress.finish(session, _end(row, attempt, Verdict.CANCELLED, reason))
        if ended:
            self._stop(attempt)
            self.announce(submission)
        return ended

    def announce(self, submission: str) -> None:
        """Wake whoever waits for a submission; they look by themselves should Redis fail."""
        try:
            self._redis.publish(UPDATES, submission)
        except redis.RedisError as error:
            _log.warning("watchers of %s are not told: %s", submission, error)

    def _stop(self, attempt: Attempt) -> None:
        """Take an attempt out of the queue; a worker that has it notices within seconds."""
        try:
            turn_away(self._redis, attempt.submission, attempt.number)
            self._queue.remove(attempt.submission, attempt.number)
        except redis.RedisError as error:
            _log.warning("%s is over but may still be worked on: %s", attempt, error)

    def _limits(self, task: str) -> TimeLimits:
        folder = self._catalog.get(task)
        return TimeLimits() if folder is None else folder.task.limits


def _end(row: SubmissionRow, attempt: Attempt, verdict: Verdict, reason: str) -> Report:
    """The service's own report."""
    return Report(
        submission=row.id,
        attempt=attempt.number,
        task=row.task,
        task_version=row.task_version,
        device=row.device,
        verdict=verdict,
        reason=reason[:500],
        finished_at=clock.now(),
    )


def _names(attempt: Attempt) -> tuple[str, int]:
    return attempt.submission, attempt.number
