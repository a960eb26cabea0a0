"""What a jail costs: from a client's request to its answer, by what the server preloaded.

Run: python -m benchmarks.bench_jail [runs]
"""

import importlib.util
import shutil
import statistics
import subprocess
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


def _measure_bubblewrap(modules: tuple[str, ...], runs: int) -> None:
    """The same namespaces by bubblewrap, which starts a program instead of forking a warm one."""
    shown = [word for path in interpreter_paths() for word in ("--ro-bind", str(path), str(path))]
    code = "".join(f"import {name}\n" for name in modules)
    code += "import time; print(time.monotonic_ns())"
    command = [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
        *("--cap-drop", "ALL", *shown, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/scratch"),
        *(sys.executable, "-c", code),
    ]
    samples = []
    for _ in range(runs):
        asked = time.monotonic_ns()
        done = subprocess.run(command, capture_output=True, check=True)
        samples.append((int(done.stdout) - asked) / 1e6)
    print(
        f"{'+'.join(modules) or 'nothing':>14} imported in bubblewrap: start to code "
        f"{statistics.median(samples):.1f} ms (worst {max(samples):.1f}); median of {runs}"
    )


def main() -> None:
    """Print lines for an empty server and one with torch and triton, and for bubblewrap's way."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    _measure((), runs)
    if all(importlib.util.find_spec(name) for name in ("torch", "triton")):
        _measure(("torch", "triton"), runs)
    if shutil.which("bwrap") is None:
        print("bubblewrap is not installed")
        return
    _measure_bubblewrap((), runs)
    _measure_bubblewrap(("torch", "triton"), max(1, runs // 10))


if __name__ == "__main__":
    main()
