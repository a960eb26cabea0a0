"""How long pages with 1,000 rows take: boards, and places over all tasks.

    python -m benchmarks.bench_pages [--submissions 100000] [--users 2000] [--requests 20]

Budget: under 200 ms of the service's time for a page, one request after another.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from app.store import Store
from benchmarks.bench_api import PORT, fill, serving

_PAGES = ("/boards/softmax/H200?rows=1000", "/standings?device=H200&rows=1000")


def main() -> None:
    """Fill a store, serve it, and print a line for each page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=2000)
    parser.add_argument("--requests", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kj-") as folder:
        url = f"sqlite:///{folder}/kerneljudge.db"
        store = Store(url)
        store.migrate()
        fill(store, arguments.submissions, arguments.users)
        store.close()
        with (
            serving(Path(folder), url, accounts=False) as process,
            httpx.Client(base_url=f"http://127.0.0.1:{PORT}", timeout=60) as client,
        ):
            for page in _PAGES:
                _show(client, page, arguments.requests, process.pid)


def _show(client: httpx.Client, page: str, requests: int, pid: int) -> None:
    cpu = _cpu_seconds(pid)
    _seconds(client, page)
    first, cpu = _cpu_seconds(pid) - cpu, _cpu_seconds(pid)
    times = [_seconds(client, page) for _ in range(requests)]
    cpu = (_cpu_seconds(pid) - cpu) / requests
    print(
        f"{page}: {1000 * cpu:.0f} ms of the service's CPU each, {1000 * first:.0f} ms the first; "
        f"median {1000 * statistics.median(times):.0f} and most {1000 * max(times):.0f} ms"
    )


def _seconds(client: httpx.Client, page: str) -> float:
    started = time.perf_counter()
    answer = client.get(page)
    seconds = time.perf_counter() - started
    rows = answer.raise_for_status().text.count("<tr")
    assert rows > 1000, f"{page} has {rows} rows"
    return seconds


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process and its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
