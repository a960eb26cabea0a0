"""Heartbeats say what a worker does, and soon so while it starts."""

import subprocess
from pathlib import Path

import pytest
import redis

from kernels.contract import WorkerInfo, drain_key, worker_key
from workers.heartbeat import Heartbeat
from workers.host import QueueWorker, tend
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


def test_a_drained_host_asks_its_workers_once_to_end_and_starts_none(
    connection: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    busy = "trap 'echo asked' TERM; echo ready; while ! [ -e done ]; do sleep 0.02; done"
    with subprocess.Popen(["bash", "-c", busy], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        worker = QueueWorker(Settings.load(), "build", None, "all layers", "two", process)
        heartbeat = Heartbeat(connection, [worker], jail_complete=True)
        states = []
        for _ in range(2):
            connection.set(drain_key(worker.settings.host), "ada")
            heartbeat.beat()
            for _ in range(3):
                tend([worker], draining=heartbeat.draining)
            published = connection.get(worker_key("two"))
            assert isinstance(published, bytes)
            states.append(WorkerInfo.model_validate_json(published).state)
            if worker.alive():
                (tmp_path / "done").touch()
                assert process.stdout.read() == b"asked\n"
                process.wait()
    assert states == ["draining", "drained"]
    connection.delete(drain_key(worker.settings.host))
    heartbeat.beat()
    assert not heartbeat.draining


def test_a_host_ends_though_redis_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    settings = Settings.load()
    worker = QueueWorker(settings, "build", None, "all layers", "three")
    heartbeat = Heartbeat(settings.connect(patient=False), [worker], jail_complete=True)
    heartbeat.start()
    heartbeat.stop()
    assert not heartbeat.is_alive()
