"""What a submit takes while many submissions wait: it must not depend on how many.

    python -m benchmarks.bench_queue [--waiting 10000] [--users 100] [--submits 200]

Two processes of the service with SQLite and their own Redis, no worker: one with nothing waiting
at first, one with so many. Requests go one after the other, to each in turn, so that both meet the
same machine. Each answer comes when the submission is stored and, if it is its turn, queued. The
service's own CPU time hardly depends on what else the machine does. What the background loops take
meanwhile is in the CPU of ten idle seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from app.settings import ROOT
from app.store import Store, submissions
from app.store.submissions import Origin
from benchmarks.bench_api import _cpu_seconds
from kernels.contract import DeviceName, Submission

_PORT = 8128
_IDLE_SECONDS = 10
_BATCH = 500
_ROUND = 20
"""Submits to one of them before the other's turn."""
_SOURCE = "import triton\n\ndef solve(x):\n    return x\n" + "# filling\n" * 500


@dataclass
class _Asked:
    """One of the two, and what was seen of it."""

    waiting: int
    pid: int
    http: httpx.Client
    times: list[float] = field(default_factory=list)
    """Milliseconds from request to answer."""
    cpu: list[float] = field(default_factory=list)
    """Milliseconds a submit, of each round."""

    def submit(self, count: int) -> None:
        """One round."""
        before = _cpu_seconds(self.pid)
        self.times += [_submit(self.http) for _ in range(count)]
        self.cpu.append(1000 * (_cpu_seconds(self.pid) - before) / count)


def main() -> None:
    """Print a line for an empty queue and one for a long one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waiting", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--submits", type=int, default=200)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        both = [
            stack.enter_context(asked(waiting, arguments.users, _PORT + n))
            for n, waiting in enumerate((0, arguments.waiting))
        ]
        for one in both:
            for _ in range(5):
                _submit(one.http)
        for _ in range(max(1, arguments.submits // _ROUND)):
            for one in both:
                one.submit(min(_ROUND, arguments.submits))
        idle = [_cpu_seconds(one.pid) for one in both]
        time.sleep(_IDLE_SECONDS)
        for one, before in zip(both, idle, strict=True):
            show(one, (_cpu_seconds(one.pid) - before) / _IDLE_SECONDS)


@contextmanager
def asked(waiting: int, users: int, port: int) -> Iterator[_Asked]:
    """A service with so many submissions waiting."""
    with tempfile.TemporaryDirectory(prefix="kj-") as folder:
        store = Store(f"sqlite:///{folder}/kerneljudge.db")
        store.migrate()
        fill(store, waiting, users)
        store.close()
        api = f"http://127.0.0.1:{port}/api/v1"
        with serving(Path(folder), port) as process, httpx.Client(base_url=api, timeout=60) as http:
            yield _Asked(waiting, process.pid, http)


def fill(store: Store, count: int, users: int) -> None:
    """Submissions that wait for their turn."""
    for first in range(0, count, _BATCH):
        with store.write() as session:
            for number in range(first, min(first + _BATCH, count)):
                submissions.insert(
                    session, _given(number), Origin(f"user{number % users}", None, "")
                )


def _given(number: int) -> Submission:
    return Submission(
        id=f"s{number}", attempt=1, task="softmax", task_version=1, device=DeviceName.H200,
        measured=False, entry="solve", source=_SOURCE,
    )  # fmt: skip


def show(one: _Asked, idle: float) -> None:
    """One line."""
    p99 = statistics.quantiles(one.times, n=100)[-1]
    print(
        f"{one.waiting} waiting: submit in {statistics.median(one.times):.1f} ms (median), "
        f"{p99:.1f} ms (p99), {statistics.median(one.cpu):.1f} ms of the service's CPU each "
        f"(median of {len(one.cpu)} rounds); idle: {idle:.1%} of a core"
    )


def _submit(http: httpx.Client) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    answer = http.post("/submissions", json={"task": "softmax", "source": _SOURCE})
    took = 1000 * (time.perf_counter() - started)
    answer.raise_for_status()
    return took


@contextmanager
def serving(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """One process of the service, once it is ready."""
    settings = {
        "KERNELJUDGE_DATA_DIR": str(folder),
        "KERNELJUDGE_PORT": str(port),
        "KERNELJUDGE_USER_WAITING_LIMIT": "1000000",
        "KERNELJUDGE_WAITING_LIMIT": "1000000",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "app"], cwd=ROOT, env=os.environ | settings,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/ready").is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
