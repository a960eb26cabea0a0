"""The truth about this installation, and the sentences that every page must show of it."""

import threading
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import redis
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.presence import Presence
from app.queue import JobQueue, queue_names
from app.schemas import Component, Health, QueueLength
from app.store import Store, turns
from kernels.contract import Ceilings, DeviceName, WorkerInfo

_FRESH_SECONDS = 1.0


class HealthCheck:
    """Looks at every part at most once a second; safe to share between threads."""

    def __init__(
        self,
        store: Store,
        connection: redis.Redis,
        queue: JobQueue,
        presence: Presence,
        *,
        redis_embedded: bool,
    ) -> None:
        self._store = store
        self._redis = connection
        self._queue = queue
        self._presence = presence
        self._redis_embedded = redis_embedded
        self._lock = threading.Lock()
        self._last: Health | None = None
        self._looked_at = 0.0

    def look(self) -> Health:
        """The state now, or a second ago; never raises."""
        with self._lock:
            if self._last is None or time.monotonic() - self._looked_at >= _FRESH_SECONDS:
                self._last = self._look()
                self._looked_at = time.monotonic()
            return self._last

    def _look(self) -> Health:
        database, devices, ceilings = self._database()
        redis_state, workers, queues = self._queues()
        unsafe = any(not worker.jail_complete for worker in workers)
        return Health(
            status=_status(database, redis_state, workers),
            version=_version(),
            database=database,
            redis=redis_state,
            redis_embedded=self._redis_embedded,
            workers=workers,
            queues=queues,
            measured_devices=devices,
            ceilings=ceilings,
            unsafe=unsafe,
            banners=_banners(database, redis_state, workers, devices),
        )

    def _database(
        self,
    ) -> tuple[Component, tuple[DeviceName, ...], dict[DeviceName, Ceilings]]:
        kind = "SQLite" if self._store.embedded else "PostgreSQL"
        try:
            with self._store.read() as session:
                session.execute(text("SELECT 1"))
            devices = self._presence.measured_devices()
            return Component(ok=True, detail=kind), devices, self._presence.ceilings()
        except SQLAlchemyError as error:
            detail = f"{kind} does not answer ({type(error).__name__}): see the service's log"
            return Component(ok=False, detail=detail), (), {}

    def _queues(self) -> tuple[Component, tuple[WorkerInfo, ...], tuple[QueueLength, ...]]:
        try:
            lengths = self._queue.lengths(DeviceName)
            with self._store.read() as session:
                lengths["build"] += turns.waiting(session)  # not yet in Redis
            workers = self._presence.workers()
            detail = _redis_detail(self._redis, embedded=self._redis_embedded)
        except (redis.RedisError, SQLAlchemyError) as error:
            unknown = tuple(QueueLength(name=name, waiting=None) for name in queue_names())
            detail = f"Redis does not answer ({type(error).__name__}): see the service's log"
            return Component(ok=False, detail=detail), (), unknown
        queues = tuple(QueueLength(name=name, waiting=count) for name, count in lengths.items())
        return Component(ok=True, detail=detail), workers, queues


def _redis_detail(connection: redis.Redis, *, embedded: bool) -> str:
    memory = connection.info("memory")
    used, most = int(memory["used_memory"]), int(memory.get("maxmemory", 0))
    detail = f"{'embedded' if embedded else 'external'}, {used >> 20} MiB in use"
    return f"{detail} of {most >> 20} MiB" if most else detail


def _status(
    database: Component, queue: Component, workers: tuple[WorkerInfo, ...]
) -> Literal["ok", "degraded", "down"]:
    if not database.ok:
        return "down"
    return "ok" if queue.ok and _builders(workers) else "degraded"


def _banners(
    database: Component,
    queue: Component,
    workers: tuple[WorkerInfo, ...],
    measured: tuple[DeviceName, ...],
) -> tuple[str, ...]:
    if not database.ok:
        return ("The database does not answer: nothing can be submitted for now.",)
    if not queue.ok:
        return ("The queue does not answer: what is submitted now is judged later.",)
    banners = []
    if any(not worker.jail_complete for worker in workers):
        banners.append(
            "UNSAFE: a worker runs submissions without a complete jail. "
            "Submit only code that you trust."
        )
    for worker in workers:
        if worker.state == "quarantined":
            gpu = f"The GPU {worker.gpu} of {worker.host}" if worker.gpu else worker.name
            banners.append(f"{gpu} is out of service: {worker.detail}")
    if any(worker.state in ("draining", "drained") for worker in workers) and not _builders(
        workers
    ):
        banners.append("Every worker is drained: what is submitted waits until one serves again.")
    elif not _builders(workers):
        banners.append("No worker is running: what is submitted now is judged later.")
    elif not measured:
        banners.append(
            "No GPU serves this installation: submissions are checked on the CPU, "
            "not measured and not ranked."
        )
    serving = {worker.device for worker in workers if worker.role == "measure" and _serving(worker)}
    for device in measured:
        if device not in serving:
            banners.append(f"No {device} serves now: what is submitted for it waits for one.")
    return tuple(banners)


def _builders(workers: tuple[WorkerInfo, ...]) -> bool:
    return any(worker.role == "build" and _serving(worker) for worker in workers)


def _serving(worker: WorkerInfo) -> bool:
    return worker.state in ("idle", "busy")


def _version() -> str:
    try:
        return version("kerneljudge")
    except PackageNotFoundError:
        return "unknown"
