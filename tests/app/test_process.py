"""The service as a process: killed at any moment, it goes on where it was."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from app.settings import ROOT, Settings
from kernels.contract import Submission
from tests.app.api.talking import post, speak
from tests.app.judging import report
from workers.events import Publisher


@contextmanager
def process(
    settings: Settings, **more: str
) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    """`python -m app` once it answers, with more settings; killed at the end if it still runs."""
    port = _free_port()
    environment = {
        **os.environ,
        "KERNELJUDGE_DATA_DIR": str(settings.data_dir),
        "KERNELJUDGE_PORT": str(port),
        **more,
    }
    running = subprocess.Popen([sys.executable, "-m", "app"], cwd=ROOT, env=environment)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        try:
            _until_it_answers(running, client)
            yield running, client
        finally:
            running.kill()
            running.wait()


def test_killed_and_started_again_it_reads_what_workers_said_meanwhile(
    settings: Settings,
) -> None:
    with process(settings) as (running, client):
        name = post(client).json()["id"]
        running.send_signal(signal.SIGKILL)
    speak(settings, name, _judge)
    with process(settings) as (running, client):
        body = client.get(f"/api/v1/submissions/{name}", params={"wait": 30}).json()
        assert body["verdict"] == "checked"
        assert client.get("/api/v1/submissions").json()["items"][0]["id"] == name
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == -signal.SIGTERM  # after an orderly end
    assert not _answers(settings)


def test_sigterm_lets_those_go_who_wait(settings: Settings) -> None:
    with process(settings) as (running, client):
        name = post(client).json()["id"]
        address = f"/api/v1/submissions/{name}/events"
        with client.stream("GET", address) as stream:
            lines = stream.iter_lines()
            while not next(lines).startswith("event: stage"):
                pass
            running.send_signal(signal.SIGTERM)
            rest = list(lines)  # the stream ends properly, else this raises
        assert "event: finished" not in rest
        assert running.wait(30) == -signal.SIGTERM  # after an orderly end


def test_two_share_a_database_and_a_queue(settings: Settings) -> None:
    """What one took the other shows, and tells those who watch there of its verdict."""
    shared = {
        "KERNELJUDGE_DATA_DIR": str(settings.data_dir / "second"),
        "KERNELJUDGE_DATABASE_URL": settings.database_address,
        "KERNELJUDGE_REDIS_URL": f"unix://{settings.redis_socket}",
    }
    with process(settings) as (_, one), process(settings, **shared) as (_, other):
        names = [post(client).json()["id"] for client in (one, other)]
        for name, watching in zip(names, (other, one), strict=True):
            address = f"/api/v1/submissions/{name}/events"
            with watching.stream("GET", address) as stream:
                speak(settings, name, _judge)
                assert "event: finished" in stream.iter_lines()
        for client in (one, other):
            items = client.get("/api/v1/submissions").json()["items"]
            assert [(item["id"], item["verdict"]) for item in items] == [
                (name, "checked") for name in reversed(names)
            ]


def test_a_wrong_setting_ends_it_with_one_clear_line(settings: Settings) -> None:
    environment = {**os.environ, "KERNELJUDGE_HOST": "0.0.0.0"}
    done = subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"KERNELJUDGE_ALLOW_OPEN" in done.stderr
    assert b"Traceback" not in done.stderr


def _judge(worker: Publisher, given: Submission) -> None:
    worker.stage("building", "compiling")
    worker.report(report(given))


def _answers(settings: Settings) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(settings.redis_socket)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_it_answers(running: subprocess.Popen[bytes], client: httpx.Client) -> None:
    while True:
        assert running.poll() is None, "the service did not start"
        try:
            client.get("/api/v1/health")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
