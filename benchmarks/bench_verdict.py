"""From submit to verdict on this machine, through the whole stack, with idle workers.

    python -m benchmarks.bench_verdict [--runs 10]

Budgets: softmax `checked` within 6 s on two cores without a GPU; with a warm GPU worker softmax
within 2.5 s, matmul with 8 configurations within 6 s (medians).
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from scripts.stack import ROOT, Stack

_TASKS = ROOT / "kernels" / "tasks"
CANDIDATES = {
    "softmax fused": ("softmax", _TASKS / "softmax" / "solutions" / "fused.py"),
    "matmul grouped": ("matmul", _TASKS / "matmul" / "solutions" / "grouped.py"),
}


def main() -> None:
    """Print a line for each candidate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--port", type=int, default=8124)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Stack(Path(folder), arguments.port) as stack,
    ):
        stack.wait_until_ready()
        for name, (task, path) in CANDIDATES.items():
            source = path.read_text()
            # A comment of its own, so that each run is built and none comes from the plan cache.
            sources = [f"# run {i}\n{source}" for i in range(arguments.runs)]
            first = [judge(stack, task, source) for source in sources]
            again = [judge(stack, task, source) for source in sources]
            print(f"{name}: {describe(first)}; from the plan cache: {describe(again)}")


def judge(stack: Stack, task: str, source: str) -> float:
    """Seconds until the verdict; RuntimeError if it is not the one expected."""
    started = time.perf_counter()
    detail = stack.submit(task, source, wait=120)
    seconds = time.perf_counter() - started
    if detail["verdict"] not in ("accepted", "checked"):
        raise RuntimeError(f"{detail['verdict']}: {detail['reason']}")
    return seconds


def describe(seconds: list[float]) -> str:
    """Median and slowest."""
    return f"median {statistics.median(seconds):.2f} s, slowest {max(seconds):.2f} s"


if __name__ == "__main__":
    main()
