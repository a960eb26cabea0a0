"""The queue client: jobs are named by dotted path and carry JSON; this side never imports them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import redis
from rq import Queue, Retry
from rq.exceptions import DuplicateJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from kernels.contract import DeviceName, Submission, TimeLimits, job_id
from kernels.contract.rerun import Rerun

BUILD_JOB = "workers.jobs.build"
RERUN_JOB = "workers.reruns.rerun"
_SLACK_SECONDS = 120
"""RQ's own timeout is an outer net; a worker keeps the limits itself."""


class JobState(StrEnum):
    """Where the jobs of one attempt are."""

    WAITING = "waiting"
    """In a queue."""
    STARTED = "started"
    """Taken by a worker, as far as the queue knows."""
    OVER = "over"
    """Finished, failed or cancelled."""
    MISSING = "missing"
    """The queue knows nothing of it."""


@dataclass(frozen=True)
class QueueSnapshot:
    """Ids of jobs, read at one moment."""

    waiting: frozenset[str] = field(repr=False)
    taken: frozenset[str] = field(default=frozenset(), repr=False)
    """Those that a worker has taken out and not begun, or never will."""


class JobQueue:
    """Puts submissions into the build queue and says what became of them."""

    def __init__(self, connection: redis.Redis) -> None:
        self._redis = connection

    def enqueue(self, submission: Submission, limits: TimeLimits) -> None:
        """Queue an attempt; harmless if it is queued already. redis.RedisError if Redis fails."""
        try:
            self._queue("build").enqueue(
                BUILD_JOB,
                submission.model_dump(mode="json"),
                job_id=job_id("build", submission.id, submission.attempt),
                unique=True,
                retry=Retry(max=2),
                job_timeout=_longest_build(limits),
                result_ttl=3600,
                failure_ttl=86_400,
                description=f"build {submission.task} for {submission.device}",
            )
        except DuplicateJobError:
            return

    def enqueue_rerun(self, rerun: Rerun, seconds: float) -> None:
        """Queue an attempt at a rerun; harmless if it is queued already. redis.RedisError."""
        try:
            self._queue(f"measure:{rerun.device}").enqueue(
                RERUN_JOB,
                rerun.model_dump(mode="json"),
                job_id=job_id("rerun", rerun.id, rerun.attempt),
                unique=True,
                retry=Retry(max=2),
                job_timeout=int(seconds) + _SLACK_SECONDS,
                result_ttl=3600,
                failure_ttl=86_400,
                description=f"{rerun.kind} {rerun.task} on {rerun.device}",
            )
        except DuplicateJobError:
            return

    def snapshot(self) -> QueueSnapshot:
        """What waits now, and what is between its queue and a worker, where jobs can get stuck."""
        waiting, taken = set[str](), set[str]()
        for name in queue_names():
            queue = self._queue(name)
            waiting.update(queue.job_ids)
            taken.update(queue.intermediate_queue.get_job_ids())
        return QueueSnapshot(frozenset(waiting), frozenset(taken))

    def state(self, snapshot: QueueSnapshot, submission: str, attempt: int) -> JobState:
        """Where an attempt at a submission or a rerun is, over all of its jobs."""
        ids = _job_ids(submission, attempt)
        if snapshot.waiting.intersection(ids):
            return JobState.WAITING
        if snapshot.taken.intersection(ids):
            return JobState.STARTED
        statuses = [self._redis.hget(Job.key_for(name), "status") for name in ids]
        if b"started" in statuses:
            return JobState.STARTED
        return JobState.OVER if any(statuses) else JobState.MISSING

    def remove(self, submission: str, attempt: int) -> None:
        """Forget the jobs of an attempt, so that no worker starts on it any more."""
        jobs: Sequence[Job | None] = Job.fetch_many(
            _job_ids(submission, attempt), self._redis, serializer=JSONSerializer
        )
        for job in filter(None, jobs):
            job.delete()

    def lengths(self, devices: Iterable[DeviceName]) -> dict[str, int]:
        """How many jobs wait in the build queue and in those of some devices."""
        names = ["build", *(f"measure:{device}" for device in devices)]
        return {name: self._queue(name).count for name in names}

    def _queue(self, name: str) -> Any:
        return Queue(name, connection=self._redis, serializer=JSONSerializer)


def queue_names() -> list[str]:
    """Every queue that a submission may wait in."""
    return ["build", *(f"measure:{device}" for device in DeviceName)]


def _job_ids(submission: str, attempt: int) -> list[str]:
    queues: tuple[Literal["build", "measure", "rerun"], ...] = ("build", "measure", "rerun")
    return [job_id(queue, submission, attempt) for queue in queues]


def _longest_build(limits: TimeLimits) -> int:
    after = max(limits.interpret_wall, limits.build_wall)  # side by side
    return int(limits.build_wall + after) + _SLACK_SECONDS
