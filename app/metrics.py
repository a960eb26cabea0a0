"""What Prometheus reads: requests of this process, and the state of the installation."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app import clock
from app.health import HealthCheck
from app.store import Store
from app.store.tables import UNFINISHED, SubmissionRow
from kernels.contract import Stage

_FRESH_SECONDS = 10.0
_LAST = 200
"""Submissions over which the time to a verdict is taken."""

_STAGES = (
    select(SubmissionRow.stage, func.count(), func.min(SubmissionRow.created_at))
    .where(UNFINISHED)
    .group_by(SubmissionRow.stage)
)
_VERDICTS = (
    select(SubmissionRow.verdict, func.count())
    .where(SubmissionRow.verdict.is_not(None))
    .group_by(SubmissionRow.verdict)
)
_LAST_FINISHED = (
    select(SubmissionRow.created_at, SubmissionRow.finished_at)
    .where(SubmissionRow.finished_at.is_not(None))
    .order_by(SubmissionRow.number.desc())
    .limit(_LAST)
)


class Metrics:
    """One registry per service, so that tests can have several in a process."""

    def __init__(self, store: Store, checkup: HealthCheck) -> None:
        self.registry = CollectorRegistry()
        self.request_seconds = Histogram(
            "kerneljudge_http_request_seconds",
            "Time to answer a request, by this process.",
            ("method", "route", "status"),
            registry=self.registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
        )
        self.registry.register(State(store, checkup))


class State(Collector):
    """Asks the database at most every ten seconds, however often it is read."""

    def __init__(self, store: Store, checkup: HealthCheck) -> None:
        self._store = store
        self._checkup = checkup
        self._lock = threading.Lock()
        self._known: list[GaugeMetricFamily] = []
        self._asked_at = -_FRESH_SECONDS

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Everything that is known; what does not answer is `up 0` and left out."""
        health = self._checkup.look()
        yield _gauge(
            "kerneljudge_up",
            "1 if it answers.",
            ("component",),
            {("database",): health.database.ok, ("redis",): health.redis.ok},
        )
        yield _gauge(
            "kerneljudge_queue_jobs",
            "Jobs waiting.",
            ("queue",),
            {(q.name,): q.waiting for q in health.queues if q.waiting is not None},
        )
        yield _gauge(
            "kerneljudge_workers",
            "Living workers.",
            ("role", "device", "state"),
            Counter((w.role, w.device.value if w.device else "", w.state) for w in health.workers),
        )
        yield from self._from_database()

    def _from_database(self) -> list[GaugeMetricFamily]:
        with self._lock:
            if time.monotonic() - self._asked_at >= _FRESH_SECONDS:
                try:
                    self._known = list(self._ask())
                except SQLAlchemyError:
                    self._known = []
                self._asked_at = time.monotonic()
            return self._known

    def _ask(self) -> Iterator[GaugeMetricFamily]:
        with self._store.read() as session:
            yield from _unfinished(session)
            yield _gauge(
                "kerneljudge_submissions_finished",
                "Submissions by verdict.",
                ("verdict",),
                {(str(verdict),): count for verdict, count in session.execute(_VERDICTS)},
            )
            last = session.execute(_LAST_FINISHED).all()
        spans = [done - created for created, done in last if done is not None]
        yield _quantiles(sorted(span.total_seconds() for span in spans))


def _unfinished(session: Session) -> Iterator[GaugeMetricFamily]:
    rows = session.execute(_STAGES).all()
    counts = {stage: count for stage, count, _ in rows}
    yield _gauge(
        "kerneljudge_submissions_unfinished",
        "Submissions without a verdict.",
        ("stage",),
        {(stage.value,): counts.get(stage, 0) for stage in Stage if stage is not Stage.FINISHED},
    )
    now = clock.now()
    yield _gauge(
        "kerneljudge_oldest_unfinished_seconds",
        "Age of the oldest submission without a verdict; 0 if there is none.",
        (),
        {(): max(((now - created).total_seconds() for _, _, created in rows), default=0.0)},
    )


def _quantiles(seconds: list[float]) -> GaugeMetricFamily:
    last = len(seconds) - 1
    return _gauge(
        "kerneljudge_judging_seconds",
        f"From submitting to the verdict, over the last {_LAST} submissions.",
        ("quantile",),
        {(str(q),): seconds[int(q * last)] for q in (0.5, 0.95)} if seconds else {},
    )


def _gauge(
    name: str, meaning: str, labels: Sequence[str], values: Mapping[tuple[str, ...], float]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family
