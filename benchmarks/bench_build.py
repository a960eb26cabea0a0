"""How long building takes: every solution of every task, from a warm process, with a cold cache.

python benchmarks/bench_build.py [task ...] [--repeat 3]
"""

import argparse
import os
import tempfile
import time

import workers.build.prewarm  # noqa: F401  as the build's fork server does
from kernels.catalog import Catalog, TaskFolder
from kernels.contract import Bundle, DeviceName, cubin
from kernels.contract.wire import BuildAnswer, BuildRequest
from workers.build import main


def measure(folder: TaskFolder, source: str) -> tuple[float, bytes]:
    """Seconds from fork to answer, and the answer."""
    task = folder.task
    request = BuildRequest(
        source=source,
        entry=task.entry,
        task=task,
        device=DeviceName.H200,
        seconds=task.limits.build,
    ).pack()
    reader, writer = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(main.run(request))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return time.perf_counter() - started, answer


def row(name: str, seconds: list[float], answer: bytes) -> str:
    """One line of the table."""
    found, blobs = BuildAnswer.unpack(answer)
    if found.failure is not None:
        return f"{name:32} {min(seconds):6.2f} s  {found.failure.reason}"
    started = time.perf_counter()
    bundle = Bundle.unpack(blobs[0])
    cubin.check(bundle)
    checked = time.perf_counter() - started
    plan = bundle.plan
    return (
        f"{name:32} {min(seconds):6.2f} s  {len(plan.cases):3} cases {len(plan.kernels):4} kernels"
        f" {len(blobs[0]) >> 10:6} KiB  checked in {checked * 1e3:.0f} ms"
    )


def run() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    catalog = Catalog()
    for name in options.tasks or catalog:
        folder = catalog[name]
        for solution in folder.solutions:
            source = solution.read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as scratch:
                os.environ["TMPDIR"] = scratch
                timed = [measure(folder, source) for _ in range(options.repeat)]
            print(row(f"{name}/{solution.stem}", [t for t, _ in timed], timed[-1][1]))


if __name__ == "__main__":
    run()
