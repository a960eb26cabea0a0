"""No submission stays unfinished for ever: what nobody works on is queued again or ended.

Silence is measured by this process's own observation, never by a worker's clock: an attempt is
given up when it has looked abandoned for a while and said nothing in that time.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import redis
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app import clock
from app.attempts import Attempts
from app.events import EventConsumer
from app.leases import is_held
from app.presence import Presence
from app.queue import JobQueue, JobState, QueueSnapshot
from app.store import Store, turns
from app.store.progress import Attempt
from app.store.tables import RerunRow, SubmissionRow
from app.store.turns import Lane
from app.turns import Turns
from kernels.contract import Stage

_SWEEP_SECONDS = 2.0
_MOST_LATE = 100
"""Ended in one sweep, of those that wait for their turn."""

_log = logging.getLogger(__name__)


class Action(StrEnum):
    """What to do about an unfinished submission."""

    LEAVE = "leave"
    ENQUEUE = "enqueue"
    """Put the present attempt into the queue."""
    RESTART = "restart"
    """Give the attempt up and try again, if there are tries left."""
    EXPIRE = "expire"
    """End it: no worker has taken it for too long."""


@dataclass(frozen=True)
class Situation:
    """What is known of an unfinished submission."""

    stage: Stage
    job: JobState
    leased: bool
    """Whether a worker holds the attempt."""
    served: bool
    """Whether a worker is there that takes what waits in its queue."""
    unmoved: float
    """Seconds since the attempt last got on."""
    abandoned: float
    """Seconds for which it has looked abandoned."""


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds."""

    for_worker: float = 3600
    """In a queue that no worker serves."""
    for_turn: float = 86_400
    """In a queue that is served, however slowly."""
    for_sign_of_life: float = 8
    """For the holder of an attempt; a lease outlives its last renewal by 10 s."""


def looks_abandoned(job: JobState, leased: bool) -> bool:
    """Whether nobody works on an attempt and nobody will."""
    return not leased and job is not JobState.WAITING


def decide(situation: Situation, patience: Patience) -> Action:
    """The one rule of the reaper."""
    if situation.leased:
        return Action.LEAVE
    if situation.job is JobState.WAITING:
        waited_out = situation.unmoved > _longest_wait(situation, patience)
        return Action.EXPIRE if waited_out else Action.LEAVE
    if situation.job is JobState.MISSING and situation.stage is Stage.QUEUED:
        return Action.ENQUEUE
    waited_out = situation.abandoned > patience.for_sign_of_life
    return Action.RESTART if waited_out else Action.LEAVE


def _longest_wait(situation: Situation, patience: Patience) -> float:
    return patience.for_turn if situation.served else patience.for_worker


Unfinished = SubmissionRow | RerunRow


class Watch:
    """Since when each attempt has looked abandoned, as far as this process has seen."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[int, float, float]] = {}

    def seconds(self, row: Unfinished, abandoned: bool, now: float) -> float:
        """For how long; it starts anew whenever the attempt gets on."""
        if not abandoned:
            self._since.pop(row.id, None)
            return 0.0
        attempt, moved_at, since = self._since.get(row.id, (row.attempt, row.moved_at, now))
        if (attempt, moved_at) != (row.attempt, row.moved_at):
            since = now
        self._since[row.id] = (row.attempt, row.moved_at, since)
        return now - since

    def keep(self, rows: Sequence[Unfinished]) -> None:
        """Forget what is not among the unfinished any more."""
        known = {row.id for row in rows}
        self._since = {name: seen for name, seen in self._since.items() if name in known}


class Reaper:
    """Sweeps over the unfinished submissions; several processes may each run one."""

    def __init__(
        self,
        store: Store,
        connection: redis.Redis,
        queue: JobQueue,
        attempts: Attempts,
        turns: Turns,
        events: EventConsumer,
        presence: Presence,
        patience: Patience,
    ) -> None:
        self._store = store
        self._redis = connection
        self._queue = queue
        self._attempts = attempts
        self._turns = turns
        self._events = events
        self._presence = presence
        self._patience = patience
        self._watch = Watch()

    def run(self, stop: threading.Event) -> None:
        """Sweep every few seconds until told to stop; Redis and the database may come and go."""
        while not stop.wait(_SWEEP_SECONDS):
            try:
                self.sweep(clock.steady())
            except (redis.RedisError, SQLAlchemyError) as error:
                _log.warning("unfinished submissions cannot be looked after: %s", error)

    def sweep(self, now: float) -> None:
        """Look at every unfinished submission once; `now` is the steady clock."""
        if self._events.backlog():
            return  # what looks silent may have spoken
        snapshot = self._queue.snapshot()
        with self._store.read() as session:
            rows = turns.with_workers(session)
            lanes = turns.lanes(session)
            late = [row for lane in lanes for row in self._late(session, lane, now)]
        self._watch.keep(rows)
        for row in rows:
            situation = self._situation(row, snapshot, now)
            self._act(row, decide(situation, self._patience))
        for row in late:
            self._act(row, Action.EXPIRE)
        self._turns.hand_out()

    def _late(self, session: Session, lane: Lane, now: float) -> Iterator[SubmissionRow]:
        """Those whose turn has not come for too long."""
        served = self._presence.serves(Stage.QUEUED, lane.device) and (
            not lane.measured or self._presence.serves(Stage.MEASURING, lane.device)
        )
        longest = self._patience.for_turn if served else self._patience.for_worker
        for row in turns.oldest(session, lane, _MOST_LATE):
            if now - row.moved_at > longest:
                yield row

    def _situation(self, row: SubmissionRow, snapshot: QueueSnapshot, now: float) -> Situation:
        job = self._queue.state(snapshot, row.id, row.attempt)
        leased = is_held(self._redis, row.id, row.attempt)
        abandoned = self._watch.seconds(row, looks_abandoned(job, leased), now)
        served = self._presence.serves(row.stage, row.device)
        return Situation(row.stage, job, leased, served, now - row.moved_at, abandoned)

    def _act(self, row: SubmissionRow, action: Action) -> None:
        attempt = Attempt(row.id, row.attempt)
        match action:
            case Action.ENQUEUE:
                self._attempts.enqueue(row.id)
            case Action.RESTART:
                self._attempts.give_up(attempt, "the worker that had it is gone")
            case Action.EXPIRE:
                self._attempts.fail(attempt, "no worker has taken it for too long")
            case Action.LEAVE:
                pass
