"""Which workers are there: their heartbeats in Redis, and the devices they have measured on."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator

import redis
from pydantic import ValidationError

from app.store import Store, devices
from kernels.contract import DEVICES, Ceilings, DeviceName, Stage, WorkerInfo, drain_key, worker_key

_FRESH_SECONDS = 1.0
_RECORD_SECONDS = 60.0
_MOST_WORKERS = 10_000
_log = logging.getLogger(__name__)


class Presence:
    """Reads heartbeats at most once a second; safe to share between threads."""

    def __init__(self, store: Store, connection: redis.Redis) -> None:
        self._store = store
        self._redis = connection
        self._lock = threading.Lock()
        self._workers: tuple[WorkerInfo, ...] = ()
        self._read_at = -_FRESH_SECONDS
        self._recorded: dict[DeviceName, float] = {}

    def workers(self) -> tuple[WorkerInfo, ...]:
        """All workers that live, by name; redis.RedisError if Redis fails."""
        with self._lock:
            if time.monotonic() - self._read_at >= _FRESH_SECONDS:
                self._workers = tuple(sorted(self._read(), key=lambda worker: worker.name))
                self._read_at = time.monotonic()
                self._record()
            return self._workers

    def serves(self, stage: Stage, device: DeviceName) -> bool:
        """Whether a worker lives that takes what waits before or after it was built."""
        return any(
            worker.state in ("starting", "idle", "busy")
            and (worker.role == "build" if stage is Stage.QUEUED else worker.device is device)
            for worker in self.workers()
        )

    def drained_hosts(self) -> tuple[str, ...]:
        """Hosts whose workers are to take no jobs, by name; redis.RedisError if Redis fails."""
        keys = self._redis.scan_iter(match=drain_key("*"), count=1000)
        prefix = len(drain_key(""))
        return tuple(sorted(key.decode(errors="replace")[prefix:] for key in keys))

    def drain(self, host: str, user: str) -> None:
        """Let the workers of a host finish what they have and take no more, also after a restart;
        redis.RedisError if Redis fails."""
        self._redis.set(drain_key(host), user)

    def resume(self, host: str) -> None:
        """Let them take jobs again; redis.RedisError if Redis fails."""
        self._redis.delete(drain_key(host))

    def measured_devices(self) -> tuple[DeviceName, ...]:
        """Devices that a measurer was ever ready for, the latest first."""
        try:
            self.workers()
        except redis.RedisError as error:
            _log.warning("heartbeats cannot be read: %s", error)
        with self._store.read() as session:
            return tuple(devices.measured(session))

    def ceilings(self) -> dict[DeviceName, Ceilings]:
        """What a GPU of each model reached when its worker last started."""
        with self._store.read() as session:
            return devices.ceilings(session)

    def _read(self) -> Iterator[WorkerInfo]:
        keys = []
        for key in self._redis.scan_iter(match=worker_key("*"), count=1000):
            keys.append(key)
            if len(keys) == _MOST_WORKERS:
                break
        for key, body in zip(keys, self._redis.mget(keys) if keys else (), strict=True):
            try:
                if body is not None:
                    yield WorkerInfo.model_validate_json(body)
            except ValidationError:
                _log.error("the heartbeat %r is not one", key)

    def _record(self) -> None:
        now = time.monotonic()
        due = {
            name: reached
            for name, reached in _ready(self._workers).items()
            if now - self._recorded.get(name, -1e9) > _RECORD_SECONDS
        }
        if due:
            with self._store.write() as session:
                devices.seen(session, due)
            self._recorded.update(dict.fromkeys(due, now))


def _ready(workers: Iterable[WorkerInfo]) -> dict[DeviceName, Ceilings | None]:
    """Models that can be measured on now, with the ceilings taken last, if they can be true."""
    found: dict[DeviceName, Ceilings | None] = {}
    for worker in workers:
        if worker.role != "measure" or not worker.device or worker.state not in ("idle", "busy"):
            continue
        known, told = found.setdefault(worker.device, None), worker.ceilings
        if told is None or told.problem(DEVICES[worker.device]):
            continue
        if known is None or told.taken_at > known.taken_at:
            found[worker.device] = told
    return found
