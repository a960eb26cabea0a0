"""Heartbeats say what a worker does, and soon so while it starts."""

import subprocess
from pathlib import Path

import pytest
import redis

from kernels.contract import WorkerInfo, worker_key
from workers.heartbeat import Heartbeat
from workers.host import QueueWorker
from workers.settings import Settings


def test_a_worker_is_starting_until_it_serves(
    connection: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    with subprocess.Popen(["sleep", "60"]) as process:
        worker = QueueWorker(Settings.load(), "build", None, "all layers", "one", process)
        heartbeat = Heartbeat(connection, [worker], jail_complete=True)
        states = []
        for said in (None, "idle"):
            if said is not None:
                connection.hset("rq:worker:one", "state", said)
            starting = heartbeat.beat()
            published = connection.get(worker_key("one"))
            assert isinstance(published, bytes)
            states.append((starting, WorkerInfo.model_validate_json(published).state))
        process.kill()
    assert states == [(True, "starting"), (False, "idle")]
