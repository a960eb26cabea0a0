"""Gives reruns to measurers that have nothing better to do, and takes in what they say.

A rerun waits in the database until its device's queue is empty, or for some minutes: then it goes
into the same queue as submissions do, so that a GPU does one thing at a time. Of one device one
rerun at a time is there.
"""

import hashlib
import logging
import random
import threading
from collections.abc import Callable

import redis
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app import clock
from app.attempts import MAX_ATTEMPTS, UPDATES
from app.leases import is_held, turn_away
from app.presence import Presence
from app.queue import JobQueue, JobState, QueueSnapshot
from app.reaper import Action, Patience, Situation, Watch, decide, looks_abandoned
from app.store import Store, reruns, submissions, turns, usage
from app.store.reruns import Group
from app.store.turns import Lane
from kernels.catalog import Catalog
from kernels.contract import DeviceName, Report, Stage, TimeLimits
from kernels.contract.rerun import Rerun, RerunPlan, RerunState, Turn, rerun_bundle_key

_SWEEP_SECONDS = 2.0
_PATIENCE_SECONDS = 300.0
"""A rerun waits so long for an empty queue before it takes its turn among submissions."""

_BUNDLE_SECONDS = 24 * 3600
_INSPECT_SECONDS = 180.0
_log = logging.getLogger(__name__)


class Dispatcher:
    """Several processes may each run one."""

    def __init__(
        self,
        store: Store,
        connection: redis.Redis,
        queue: JobQueue,
        catalog: Catalog,
        presence: Presence,
        patience: Patience,
    ) -> None:
        self._store = store
        self._redis = connection
        self._queue = queue
        self._catalog = catalog
        self._presence = presence
        self._patience = patience
        self._watch = Watch()
        self._lock = threading.Lock()

    def run(self, stop: threading.Event, backlog: Callable[[], object]) -> None:
        """Sweep every few seconds until told to stop; Redis and the database may come and go.

        Not while there is a `backlog` of events: what looks silent may have spoken.
        """
        while not stop.wait(_SWEEP_SECONDS):
            try:
                if not backlog():
                    self.sweep(clock.steady())
            except (redis.RedisError, SQLAlchemyError) as error:
                _log.warning("reruns cannot be looked after: %s", error)

    def sweep(self, now: float) -> None:
        """Look at every unfinished rerun once; `now` is the steady clock."""
        with self._lock:
            groups, snapshot = self._unfinished(), self._queue.snapshot()
            self._watch.keep([group.first for group in groups])
            for group in groups:
                self._act(group, decide(self._situation(group, snapshot, now), self._patience))
            self._give_out(now)

    def start(self, rerun: str) -> None:
        """Give a new rerun out at once if nothing is before it; otherwise a sweep does later."""
        try:
            with self._lock:
                self._give_out(clock.steady())
        except redis.RedisError as error:
            _log.warning("rerun %s waits to be queued: %s", rerun, error)

    def give_up(self, rerun: str, attempt: int, reason: str, *, final: bool = False) -> None:
        """Try again, or end it if that has been tried often enough or would not help."""
        with self._store.write() as session:
            group = reruns.group(session, rerun, lock=True)
            if group is None or not _is_current(group, attempt):
                return
            if final or attempt >= MAX_ATTEMPTS:
                group.end(RerunState.FAILED, _storable(reason))
                usage.settle(session, rerun, 0.0)  # our own faults cost nothing
            else:
                detail = _storable(f"starting over: {reason}")
                group.change(state=RerunState.QUEUED, attempt=attempt + 1, detail=detail)
            self._forget(group, attempt)
            self._turn_away(rerun, attempt)
        _log.warning("rerun %s: attempt %d given up: %s", rerun, attempt, reason)
        self.announce(group)

    def announce(self, group: Group) -> None:
        """Wake whoever waits for a rerun, or for one of its submissions."""
        try:
            for name in (group.first.id, *(row.id for row in group.submissions)):
                self._redis.publish(UPDATES, name)
        except redis.RedisError as error:
            _log.warning("watchers of rerun %s are not told: %s", group.first.id, error)

    def forget(self, group: Group) -> None:
        """Let go of what a rerun that has ended had in Redis."""
        self._forget(group, group.first.attempt)

    def _unfinished(self) -> list[Group]:
        with self._store.read() as session:
            names = reruns.unfinished(session)
            return [found for name in names if (found := reruns.group(session, name))]

    def _give_out(self, now: float) -> None:
        """Queue what waits, of each device the oldest, unless one is out already."""
        groups, snapshot = self._unfinished(), self._queue.snapshot()
        states = [self._queue.state(snapshot, g.first.id, g.first.attempt) for g in groups]
        placed = list(zip(groups, states, strict=True))
        busy = {g.submissions[0].device for g, job in placed if job is not JobState.MISSING}
        for group, job in placed:
            device = group.submissions[0].device
            waits = job is JobState.MISSING and group.first.state is RerunState.QUEUED
            if waits and device not in busy and self._is_due(group, now):
                busy.add(device)
                self._enqueue(group)

    def _is_due(self, group: Group, now: float) -> bool:
        device = group.submissions[0].device
        waiting = self._queue.lengths([device])[f"measure:{device}"] or self._wait_for(device)
        return not waiting or now - group.first.moved_at > _PATIENCE_SECONDS

    def _wait_for(self, device: DeviceName) -> int:
        """How many submissions wait for their turn on a device."""
        with self._store.read() as session:
            return turns.waiting(session, Lane(device, measured=True))

    def _situation(self, group: Group, snapshot: QueueSnapshot, now: float) -> Situation:
        row, device = group.first, group.submissions[0].device
        job = self._queue.state(snapshot, row.id, row.attempt)
        leased = is_held(self._redis, row.id, row.attempt)
        abandoned = self._watch.seconds(row, looks_abandoned(job, leased), now)
        stage = Stage.QUEUED if row.state is RerunState.QUEUED else Stage.MEASURING
        served = self._presence.serves(Stage.MEASURING, device)
        return Situation(stage, job, leased, served, now - row.moved_at, abandoned)

    def _act(self, group: Group, action: Action) -> None:
        row = group.first
        if action is Action.RESTART:
            self.give_up(row.id, row.attempt, "the worker that had it is gone")
        elif action is Action.EXPIRE:
            reason = "no worker has taken it for too long"
            self.give_up(row.id, row.attempt, reason, final=True)

    def _enqueue(self, group: Group) -> None:
        with self._store.read() as session:
            job = self._job(session, group)
            if job is None:
                self.give_up(group.first.id, group.first.attempt, "a plan is gone", final=True)
                return
        limits = self._limits(job.task)
        seconds = len(job.turns) * limits.measure
        self._queue.enqueue_rerun(job, seconds or _INSPECT_SECONDS + limits.measure)

    def _job(self, session: Session, group: Group) -> Rerun | None:
        """What is left to do, its plans in Redis; None if one is not there any more."""
        row, one = group.first, group.submissions[0]
        plans = []
        for submission in group.submissions:
            bundle = submissions.plan(session, submission)
            if bundle is None:
                return None
            self._redis.set(rerun_bundle_key(row.id, submission.id), bundle, ex=_BUNDLE_SECONDS)
            digest = hashlib.sha256(bundle).hexdigest()
            plans.append(RerunPlan(submission=submission.id, digest=digest))
        inspects = row.kind.inspects
        left = set() if inspects else set(group.turns()) - reruns.done(session, row.id)
        return Rerun(
            id=row.id,
            attempt=row.attempt,
            kind=row.kind,
            task=one.task,
            task_version=one.task_version,
            device=one.device,
            plans=tuple(plans),
            turns=interleaved(left, f"{row.id}-{row.attempt}"),
            configs=_configs(submissions.report(session, one)) if inspects else {},
        )

    def _limits(self, task: str) -> TimeLimits:
        folder = self._catalog.get(task)
        return TimeLimits() if folder is None else folder.task.limits

    def _turn_away(self, rerun: str, attempt: int) -> None:
        try:
            turn_away(self._redis, rerun, attempt)
        except redis.RedisError as error:
            _log.warning("rerun %s is over but may still be worked on: %s", rerun, error)

    def _forget(self, group: Group, attempt: int) -> None:
        """Take the jobs out of the queue and the plans out of Redis."""
        try:
            self._queue.remove(group.first.id, attempt)
            for row in group.submissions:
                self._redis.delete(rerun_bundle_key(group.first.id, row.id))
        except redis.RedisError as error:
            _log.warning("rerun %s leaves plans in Redis for a day: %s", group.first.id, error)


def interleaved(turns: set[Turn], seed: str) -> tuple[Turn, ...]:
    """Round by round, in an order that is drawn anew for each: nobody is always first."""
    draw = random.Random(seed)
    ordered = sorted(turns, key=lambda turn: turn.submission)
    draw.shuffle(ordered)
    return tuple(sorted(ordered, key=lambda turn: turn.round))


def _is_current(group: Group, attempt: int) -> bool:
    return group.first.finished_at is None and group.first.attempt == attempt


def _configs(report: str | None) -> dict[str, dict[str, str]]:
    if report is None:
        return {}
    cases = Report.model_validate_json(report).cases
    return {case.case: dict(case.configs) for case in cases if case.configs}


def _storable(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:500]
