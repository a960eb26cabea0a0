"""The RQ worker of one queue: `python -m workers.rq_worker QUEUE NAME`.

One queue per worker, since RQ can lose a job that it pops from several.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from rq import Queue, Worker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import WorkerStatus

from kernels import logs
from workers import jobs, reruns
from workers.settings import Settings

_FAREWELL_S = 5
"""For telling Redis that a worker has ended; where Redis is away, the worker's keys expire."""

_FUNCTIONS: dict[str, Callable[[dict[str, Any]], str]] = {
    "workers.jobs.build": jobs.build,
    "workers.jobs.measure": jobs.measure,
    "workers.reruns.rerun": reruns.rerun,
}


class JudgeJob(Job):  # type: ignore[misc]
    """A job that can name only our functions: who writes to Redis must not run code here."""

    @property
    def func(self) -> Callable[[dict[str, Any]], str]:
        """The named function; ValueError for any other name."""
        if self.instance is not None or self.func_name not in _FUNCTIONS:
            raise ValueError("the job names a function that this worker does not offer")
        return _FUNCTIONS[self.func_name]

    @property
    def success_callback(self) -> None:
        """None; callbacks could name any function."""

    @property
    def failure_callback(self) -> None:
        """None; callbacks could name any function."""

    @property
    def stopped_callback(self) -> None:
        """None; callbacks could name any function."""

    def send_webhooks(self, status: str, *, exc_string: str | None = None) -> None:
        """Nothing; webhooks would make the worker fetch a URL that the job names."""


class JudgeWorker(Worker):  # type: ignore[misc]
    """A worker that ends soon once it has nothing at hand, though Redis may be away."""

    job_class = JudgeJob
    max_connection_wait_time = 2.0

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """On SIGTERM: end after the job at hand, or soon where there is none."""
        if self.get_state() != WorkerStatus.BUSY:
            _end_soon()
        super().request_stop(signum, frame)

    def teardown(self) -> None:
        """Say farewell; for as long as connections are patient, if nothing bounded it."""
        _end_soon()
        super().teardown()


def _end_soon() -> None:
    # An alarm, not a thread: a signal handler may interrupt whoever holds a lock that threads need.
    # Where a job has come meanwhile, RQ sets its own alarm and this one is forgotten.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.alarm(_FAREWELL_S)


def work(queue_name: str, name: str) -> None:
    """Serve one queue until SIGTERM; the job at hand is finished first."""
    settings = Settings.load()
    logs.configure(settings.log)
    connection = settings.connect()
    queue = Queue(queue_name, connection=connection, serializer=JSONSerializer, job_class=JudgeJob)
    worker = JudgeWorker(
        [queue],
        name=name,
        connection=connection,
        serializer=JSONSerializer,
        worker_ttl=60,
        maintenance_interval=30,
        job_monitoring_interval=5,
        log_job_description=False,
    )
    worker.work(with_scheduler=False, logging_level=logging.WARNING)


if __name__ == "__main__":
    work(sys.argv[1], sys.argv[2])
