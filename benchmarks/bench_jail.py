"""What a jail costs: from a client's request to its answer, by what the server preloaded.

Run: python -m benchmarks.bench_jail [runs]
"""

import importlib.util
import statistics
import sys
import tempfile
import time
from pathlib import Path

from workers.jail import JailClient, Limits, Profile, interpreter_paths, start_server

_ENTRY = "benchmarks.bench_jail:start_time"
_PROFILE = Profile("bench", interpreter_paths(), env={"LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"})


def start_time(request: bytes) -> bytes:
    """The moment at which untrusted code would start, in nanoseconds of the monotonic clock."""
    return str(time.monotonic_ns()).encode()


def _measure(preload: tuple[str, ...], runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        server = start_server(Path(folder) / "run", "bench", _PROFILE, preload, _ENTRY)
        ready_s = time.monotonic() - began
        client = JailClient(server.socket)
        samples = []
        for _ in range(runs):
            asked = time.monotonic_ns()
            outcome = client.run(b"", Limits())
            answered = time.monotonic_ns()
            samples.append((int(outcome.result) - asked, answered - asked, outcome.cpu_s * 1e9))
        server.stop()
    medians = [statistics.median(column) / 1e6 for column in zip(*samples, strict=True)]
    worst = max(total for _, total, _ in samples) / 1e6
    entry, total, cpu = medians
    print(
        f"{'+'.join(preload) or 'nothing':>14} preloaded: server ready in {ready_s:.2f} s; "
        f"request to entry {entry:.1f} ms, to answer {total:.1f} ms (worst {worst:.1f}), "
        f"processor {cpu:.1f} ms; medians of {runs}"
    )


def main() -> None:
    """Print one line for an empty server and one with torch and triton, where installed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    _measure((), runs)
    if all(importlib.util.find_spec(name) for name in ("torch", "triton")):
        _measure(("torch", "triton"), runs)


if __name__ == "__main__":
    main()
