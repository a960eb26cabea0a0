"""The board of a task with many submissions, asked for as fast as two connections a core can.

    python -m benchmarks.bench_api [--submissions 100000] [--users 2000] [--requests 6000]
        [--accounts] [--database URL]

Budget: 300 requests a second at p99 <= 100 ms on two cores, with SQLite and one process. The
service's own CPU time for a request is printed as well: unlike the rest it hardly depends on what
else the machine does.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import insert

from app import clock
from app.accounts import Caller, administration
from app.accounts.tokens import TokenRequest, create_token
from app.roles import Role, Scope
from app.settings import ROOT
from app.store import Store
from app.store.tables import BoardRow, StandingRow, SubmissionRow
from kernels.contract import HARNESS_VERSION, DeviceName, Stage, Verdict

PORT = 8127
_CONNECTIONS = 8
_WARM_UP = 200
_BATCH = 5000
_PLACE = {"task": "softmax", "task_version": 1, "device": DeviceName.H200}


@dataclass(frozen=True)
class Figures:
    """What a run came to."""

    per_second: float
    median_ms: float
    p99_ms: float
    cpu_ms: float
    """Of the service, for one request."""


def main() -> None:
    """Fill a store, serve it, and print a line for each way of asking."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--requests", type=int, default=6000)
    parser.add_argument("--accounts", action="store_true", help="ask with a token")
    parser.add_argument("--database", default="", help="an empty PostgreSQL database")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kj-") as folder:
        url = arguments.database or f"sqlite:///{folder}/kerneljudge.db"
        store = Store(url)
        store.migrate()
        fill(store, arguments.submissions, arguments.users)
        token = _token(store) if arguments.accounts else ""
        store.close()
        with serving(Path(folder), url, accounts=arguments.accounts) as process:
            for name, headers in _ways(token).items():
                show(name, asyncio.run(measure(headers, arguments.requests, process.pid)))


def _ways(token: str) -> dict[str, str]:
    path = "/api/v1/boards/softmax/H200"
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    return {"board, 100 entries": head}


def show(name: str, figures: Figures) -> None:
    """One line."""
    print(
        f"{name}: {figures.per_second:.0f} requests/s, median {figures.median_ms:.1f} ms, "
        f"p99 {figures.p99_ms:.1f} ms, {figures.cpu_ms:.2f} ms of the service's CPU each"
    )


def fill(store: Store, count: int, users: int) -> None:
    """Accepted submissions of many users, each with a standing, and the best on the board."""
    with store.write() as session:
        for first in range(1, count + 1, _BATCH):
            numbers = range(first, min(first + _BATCH, count + 1))
            session.execute(insert(SubmissionRow), [_submission(n, users) for n in numbers])
            session.execute(insert(StandingRow), [_standing(n, users) for n in numbers])
        best = [_entry(user, users) for user in range(1, users + 1)]
        session.execute(insert(BoardRow), best)


def _score(number: int) -> float:
    return 10 + number * 7919 % 100_003 / 1000


def _submission(number: int, users: int) -> dict[str, object]:
    at = clock.now() - timedelta(seconds=number)
    return _PLACE | {
        "number": number,
        "id": f"s{number}",
        "user": f"user{number % users + 1}",
        "measured": True,
        "entry": "solve",
        "stage": Stage.FINISHED,
        "attempt": 1,
        "verdict": Verdict.ACCEPTED,
        "reason": "",
        "score": _score(number),
        "created_at": at,
        "finished_at": at,
        "moved_at": 0.0,
        "body_sha256": "0" * 64,
        "source": "x = 1\n" * 200,
    }


def _standing(number: int, users: int) -> dict[str, object]:
    score = _score(number)
    return _PLACE | {
        "submission": number,
        "harness": HARNESS_VERSION,
        "user": f"user{number % users + 1}",
        "score": score,
        "low": score * 0.999,
        "high": score * 1.001,
        "sittings": 1,
        "held": "failed when it was measured again" if number % 1000 == 0 else "",
        "finished_at": clock.now(),
    }


def _entry(user: int, users: int) -> dict[str, object]:
    score = 10 + user * 7919 % users / 50
    return _PLACE | {
        "harness": HARNESS_VERSION,
        "user": f"user{user}",
        "submission": f"s{user}",
        "score": score,
        "low": score * 0.999,
        "high": score * 1.001,
        "sittings": 1,
        "finished_at": clock.now(),
    }


def _token(store: Store) -> str:
    administration.create_account(store, "reader", "correct horse battery", Role.PARTICIPANT)
    reading = frozenset((Scope.READ,))
    return create_token(store, Caller("reader", reading), TokenRequest("bench", reading, 1))


@contextmanager
def serving(folder: Path, url: str, *, accounts: bool) -> Iterator[subprocess.Popen[bytes]]:
    """One process of the service, once it answers."""
    settings = {
        "KERNELJUDGE_DATA_DIR": str(folder),
        "KERNELJUDGE_DATABASE_URL": url,
        "KERNELJUDGE_PORT": str(PORT),
        "KERNELJUDGE_ACCOUNTS": "open" if accounts else "off",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "app"], cwd=ROOT, env=os.environ | settings,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        asyncio.run(_until_it_answers())
        yield process
    finally:
        process.terminate()
        process.wait()


async def _until_it_answers() -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", PORT)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


async def measure(head: str, requests: int, pid: int) -> Figures:
    """Keep all connections busy until so many requests were answered."""
    await _ask(head, _WARM_UP)
    cpu, started = _cpu_seconds(pid), time.perf_counter()
    answers = await asyncio.gather(
        *(_ask(head, requests // _CONNECTIONS) for _ in range(_CONNECTIONS))
    )
    seconds, cpu = time.perf_counter() - started, _cpu_seconds(pid) - cpu
    times = [1000 * one for answer in answers for one in answer]
    p99 = statistics.quantiles(times, n=100)[-1]
    return Figures(len(times) / seconds, statistics.median(times), p99, 1000 * cpu / len(times))


async def _ask(head: str, times: int) -> list[float]:
    """Seconds of each of many requests on one connection; RuntimeError for a wrong answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT, limit=1 << 20)
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        writer.write(f"{head}\r\n".encode())
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not answer.startswith(b"http/1.1 200"):
            raise RuntimeError(answer.decode())
        length = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        seconds.append(time.perf_counter() - started)
    writer.close()
    return seconds


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process and its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
