"""What a submit takes while many submissions wait: it must not depend on how many.

    python -m benchmarks.bench_queue [--waiting 10000] [--users 100] [--submits 200]

One process of the service with SQLite and its own Redis, no worker; requests one after the other,
at first with nothing waiting, then with so many. Each answer comes when the submission is stored
and, if it is its turn, queued. The service's own CPU time hardly depends on what else the machine
does. What the background loops take meanwhile is in the CPU of ten idle seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
_SOURCE = "import triton\n\ndef solve(x):\n    return x\n" + "# filling\n" * 500


def main() -> None:
    """Print a line for an empty queue and one for a long one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waiting", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--submits", type=int, default=200)
    arguments = parser.parse_args()
    for waiting in (0, arguments.waiting):
        with tempfile.TemporaryDirectory(prefix="kj-") as folder:
            store = Store(f"sqlite:///{folder}/kerneljudge.db")
            store.migrate()
            fill(store, waiting, arguments.users)
            store.close()
            with serving(Path(folder)) as process:
                show(waiting, process.pid, arguments.submits)


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


def show(waiting: int, pid: int, submits: int) -> None:
    """One line."""
    with httpx.Client(base_url=f"http://127.0.0.1:{_PORT}/api/v1", timeout=60) as http:
        for _ in range(5):
            _submit(http)
        cpu = _cpu_seconds(pid)
        times = [_submit(http) for _ in range(submits)]
        cpu = 1000 * (_cpu_seconds(pid) - cpu) / submits
    idle = _cpu_seconds(pid)
    time.sleep(_IDLE_SECONDS)
    idle = _cpu_seconds(pid) - idle
    p99 = statistics.quantiles(times, n=100)[-1]
    print(
        f"{waiting} waiting: submit in {statistics.median(times):.1f} ms (median), {p99:.1f} ms "
        f"(p99), {cpu:.1f} ms of the service's CPU each; idle: {idle / _IDLE_SECONDS:.1%} of a core"
    )


def _submit(http: httpx.Client) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    answer = http.post("/submissions", json={"task": "softmax", "source": _SOURCE})
    took = 1000 * (time.perf_counter() - started)
    answer.raise_for_status()
    return took


@contextmanager
def serving(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One process of the service, once it is ready."""
    settings = {
        "KERNELJUDGE_DATA_DIR": str(folder),
        "KERNELJUDGE_PORT": str(_PORT),
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
                if httpx.get(f"http://127.0.0.1:{_PORT}/ready").is_success:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
