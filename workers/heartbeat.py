"""What a host's workers say of themselves, every few seconds, in keys that expire."""

import contextlib
import importlib.metadata
import platform
import threading
from datetime import UTC, datetime
from typing import Literal

import redis

from kernels.contract import EXPIRY_SECONDS, HEARTBEAT_SECONDS, WorkerInfo, drain_key, worker_key
from workers.host import QueueWorker

State = Literal["starting", "idle", "busy", "quarantined", "draining", "drained"]
_SOON_SECONDS = 0.5
"""Until the next beat while a worker is starting: nobody should wait for news of it."""


class Heartbeat(threading.Thread):
    """Publishes a WorkerInfo for each living worker until it is stopped."""

    def __init__(
        self, connection: redis.Redis, workers: list[QueueWorker], *, jail_complete: bool
    ) -> None:
        super().__init__(daemon=True)
        self._redis = connection
        self._workers = workers
        self._jail_complete = jail_complete
        self._started_at = datetime.now(UTC)
        self._stopped = threading.Event()
        self.draining = False
        """Whether an admin wants this host to take no jobs; as of the last beat."""

    def run(self) -> None:
        """Beat; a Redis that is away ends nothing."""
        while not self._stopped.is_set():
            starting = False
            # Where Redis is away the keys expire, which is the truth: nobody can reach us.
            with contextlib.suppress(redis.RedisError):
                starting = self.beat()
            self._stopped.wait(_SOON_SECONDS if starting else HEARTBEAT_SECONDS)

    def stop(self) -> None:
        """End, and say that the workers are gone, if Redis is there to be told."""
        self._stopped.set()
        self.join()
        with contextlib.suppress(redis.RedisError):
            self._redis.delete(*(worker_key(worker.name) for worker in self._workers))

    def beat(self) -> bool:
        """Publish once; whether a worker is still starting."""
        hosts = {drain_key(worker.settings.host) for worker in self._workers}
        self.draining = bool(hosts and self._redis.exists(*hosts))
        infos = [self._info(worker) for worker in self._workers if self._is_there(worker)]
        for info in infos:
            self._redis.set(worker_key(info.name), info.model_dump_json(), ex=EXPIRY_SECONDS)
        return any(info.state == "starting" for info in infos)

    def _info(self, worker: QueueWorker) -> WorkerInfo:
        gpu = worker.gpu
        return WorkerInfo(
            name=worker.name,
            host=worker.settings.host,
            role=worker.role,
            device=gpu.device if gpu else None,
            gpu=f"{gpu.name} (number {gpu.index})" if gpu else None,
            versions=_versions() | ({"driver": gpu.driver} if gpu else {}),
            jail=worker.jail_level,
            jail_complete=self._jail_complete,
            ceilings=worker.ceilings,
            inspections=worker.inspections,
            state=self._state(worker),
            detail=worker.quarantined[:500],
            started_at=self._started_at,
            seen_at=datetime.now(UTC),
        )

    def _state(self, worker: QueueWorker) -> State:
        if worker.quarantined:
            return "quarantined"
        if self.draining:
            return "draining" if worker.alive() else "drained"
        return _state(self._redis.hget(f"rq:worker:{worker.name}", "state"))

    def _is_there(self, worker: QueueWorker) -> bool:
        """Whether to speak of it: it runs, or people should know why it does not."""
        return worker.alive() or self.draining or bool(worker.quarantined)


def _state(text: bytes | str | None) -> State:
    """RQ's word for what a worker does, in ours."""
    states: dict[bytes | str | None, State] = {b"busy": "busy", b"idle": "idle"}
    return states.get(text, "starting")


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in ("torch", "triton"):
        versions[package] = importlib.metadata.version(package)
    return versions
