"""Service and workers meet in a Redis that speaks TLS alone, as the users of the ACL file."""

import asyncio
import gc
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis
from rq import Queue

from app.main import Parts, assemble
from app.redis_server import check_policy, connect
from app.settings import Settings
from app.updates import Updates
from kernels.catalog import Catalog
from kernels.contract import Verdict
from scripts.stack import ROOT
from tests.app.judging import WORKER, beat, consume, payload, report, submit
from tests.stack.conftest import free_port
from workers.events import Publisher
from workers.settings import Settings as WorkerSettings

pytestmark = pytest.mark.skipif(
    not (shutil.which("redis-server") and shutil.which("openssl")),
    reason="needs a Redis with TLS, which the embedded server has not (apt-get install "
    "redis-server openssl)",
)
_START_SECONDS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a certificate for 127.0.0.1, its key, and the users with their passwords."""
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=queue -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    users = (ROOT / "deploy" / "redis-users.acl").read_text()
    users = users.replace("SERVICE_PASSWORD", "service-secret")
    (folder / "users.acl").write_text(users.replace("WORKER_PASSWORD", "worker-secret"))
    return folder


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    """Of a server as docs/deploying.md says it."""
    port = free_port()
    command = (
        f"redis-server --port 0 --tls-port {port} --tls-cert-file cert.pem --tls-key-file key.pem "
        "--tls-auth-clients no --aclfile users.acl --maxmemory-policy noeviction --appendonly yes"
    )
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command.split(), cwd=folder, stdout=log)
    deadline = time.monotonic() + _START_SECONDS
    connection = redis.Redis.from_url(_address(folder, port, "service"))
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(redis.ConnectionError):
            connection.ping()
            break
        time.sleep(0.05)
    yield port
    connection.close()
    server.terminate()
    server.wait()


def _address(folder: Path, port: int, user: str) -> str:
    return f"rediss://{user}:{user}-secret@127.0.0.1:{port}/0?ssl_ca_certs={folder}/cert.pem"


@pytest.fixture
def parts(folder: Path, port: int, tmp_path: Path) -> Iterator[Parts]:
    settings = Settings(data_dir=tmp_path, redis_url=_address(folder, port, "service"))
    parts = assemble(settings, Catalog())
    check_policy(parts.connection)
    parts.store.migrate()
    yield parts
    parts.connection.close()
    parts.store.close()


@pytest.fixture
def worker(folder: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    secret = folder / "redis-url"
    secret.write_text(_address(folder, port, "worker"))
    monkeypatch.setenv("KERNELJUDGE_REDIS_URL_FILE", str(secret))
    with WorkerSettings.load().connect() as connection:
        yield connection


def test_what_is_submitted_reaches_a_worker_and_its_word_the_service(
    parts: Parts, worker: redis.Redis
) -> None:
    beat(worker)
    assert [found.name for found in parts.service.presence.workers()] == [WORKER]
    name = submit(parts).id
    assert [job.split("-")[1] for job in Queue("build", connection=worker).job_ids] == [name]
    given = payload(parts, name)
    Publisher(worker, given, WORKER).report(report(given))
    consume(parts)
    assert parts.service.submission_detail(name).verdict is Verdict.CHECKED


def test_browsers_are_told_of_changes(parts: Parts, folder: Path, port: int) -> None:
    async def told() -> None:
        updates = Updates(_address(folder, port, "service"))
        listening = asyncio.create_task(updates.listen())
        with updates.watch("s1") as changed:
            while not changed.is_set():
                parts.service.attempts.announce("s1")
                await asyncio.sleep(0.05)
        os.kill(server, signal.SIGSTOP)  # so that its goodbye takes a while
        asyncio.get_running_loop().call_later(0.5, os.kill, server, signal.SIGCONT)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    server = parts.connection.info("server")["process_id"]
    try:
        asyncio.run(asyncio.wait_for(told(), _START_SECONDS))
    finally:
        os.kill(server, signal.SIGCONT)
    gc.collect()  # which would find a connection that was left open


def test_nobody_talks_to_it_without_tls_or_to_another_in_its_place(folder: Path, port: int) -> None:
    for address in (f"redis://127.0.0.1:{port}/0", f"rediss://127.0.0.1:{port}/0"):
        with connect(address) as connection, pytest.raises(redis.ConnectionError):
            connection.ping()
