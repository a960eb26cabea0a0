"""The real service over real HTTP, with its embedded Redis and its database."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import httpx
import redis
import uvicorn

from app.main import create_app
from app.settings import Settings
from kernels.contract import STREAM, Event, Report, ReportEvent, StageEvent
from tests.pages.samples import SOURCE


@dataclass(frozen=True)
class Site:
    """A running service, and what a test may do to it."""

    http: httpx.Client
    queue: redis.Redis

    @property
    def address(self) -> str:
        """Where it serves, without a trailing slash."""
        return str(self.http.base_url).rstrip("/")

    def html(self, path: str, status: int = 200) -> str:
        """A page."""
        response = self.http.get(path)
        assert response.status_code == status, response.text
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        return response.text

    def submit(self, source: str = SOURCE, task: str = "softmax") -> str:
        """The id of a new submission."""
        body = {"task": task, "source": source, "device": "H200"}
        response = self.http.post("/api/v1/submissions", json=body)
        assert response.is_success, response.text
        return str(response.json()["id"])

    def enter(self, submission: str, stage: Literal["building", "measuring"], detail: str) -> None:
        """Say, as a worker would, that a submission entered a stage."""
        self._send(
            StageEvent(
                submission=submission,
                attempt=1,
                stage=stage,
                detail=detail,
                worker="worker-1",
                at=datetime.now(UTC),
            )
        )

    def finish(self, report: Report) -> str:
        """Report, as a worker would; the id, once the service knows."""
        event = ReportEvent(
            submission=report.submission,
            attempt=1,
            report=report,
            worker="worker-1",
            at=datetime.now(UTC),
        )
        self._send(event)
        answer = self.http.get(f"/api/v1/submissions/{report.submission}?wait=20").json()
        assert answer["stage"] == "finished"
        return report.submission

    def _send(self, event: Event) -> None:
        self.queue.xadd(STREAM, {"event": event.model_dump_json()})


@contextmanager
def serve(data_dir: Path) -> Iterator[Site]:
    """A service that lives as long as the block."""
    settings = Settings(data_dir=data_dir)
    config = uvicorn.Config(
        create_app(settings), host="127.0.0.1", port=0, ws="none", log_level="warning"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with (
            httpx.Client(base_url=_address(server, thread), timeout=30) as http,
            redis.Redis.from_url(settings.redis_address) as queue,
        ):
            yield Site(http, queue)
    finally:
        server.should_exit = True
        thread.join()


def _address(server: uvicorn.Server, thread: threading.Thread) -> str:
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    return f"http://127.0.0.1:{port}"
