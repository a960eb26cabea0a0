"""Hands submissions to the workers, of each user in turn, and never many more than they can take.

The rest waits in the database. So whoever submits five hundred holds nobody up for longer than
what is under way takes, and Redis holds little, however much waits.
"""

import logging
from collections.abc import Iterable, Iterator

import redis
from sqlalchemy.exc import SQLAlchemyError

from app.attempts import Attempts
from app.presence import Presence
from app.store import Store, turns
from app.store.turns import Lane
from kernels.contract import WorkerInfo

_LEAST = 4
"""In flight even where no worker is seen, so that one that starts finds work."""
_PER_GPU = 2
_log = logging.getLogger(__name__)


class Turns:
    """Several processes may each have one."""

    def __init__(self, store: Store, presence: Presence, attempts: Attempts) -> None:
        self._store = store
        self._presence = presence
        self._attempts = attempts

    def hand_out(self) -> None:
        """Queue whatever has its turn now; what fails is tried again by the reaper's next sweep."""
        try:
            for submission in self._release():
                self._attempts.enqueue(submission)
        except (redis.RedisError, SQLAlchemyError) as error:
            _log.warning("submissions wait longer for their turn: %s", error)

    def _release(self) -> Iterator[str]:
        with self._store.read() as session:
            lanes, flying = turns.lanes(session), turns.flying(session)
        for lane in lanes:
            most = most_in_flight(self._presence.workers(), lane)
            if flying.get(lane, 0) < most:
                with self._store.write() as session:
                    released = turns.release(session, lane, most)
                yield from released


def most_in_flight(workers: Iterable[WorkerInfo], lane: Lane) -> int:
    """One for each builder, and for each GPU one to measure and one that is next."""
    serving = [worker for worker in workers if worker.state in ("idle", "busy")]
    builders = sum(worker.role == "build" for worker in serving)
    gpus = sum(lane.measured and worker.device is lane.device for worker in serving)
    return max(_LEAST, builders + _PER_GPU * max(1, gpus))
