"""How many submissions one GPU judges in an hour, through the whole service.

    python -m benchmarks.bench_throughput [--task softmax] [--count 30] [--build-workers 6]

Submits one solution so many times at once, each with a comment of its own, so that each is built,
and counts from the first verdict to the last. Budget: 1,200 an hour for softmax. Runs on a machine
with a Hopper GPU; elsewhere it counts checks on the processor.
"""

import argparse
import json
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from kernels.catalog import Catalog
from scripts.stack import Stack

SOLUTIONS = {"softmax": "fused", "matmul": "persistent"}
BUDGET = 1200
_WAIT_S = 300.0
_PARTS = ("load", "correctness", "choices", "timing", "overhead")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="softmax", choices=list(SOLUTIONS))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--build-workers", type=int, default=6)
    parser.add_argument("--port", type=int, default=8125)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    settings = {"KERNELJUDGE_BUILD_WORKERS": str(arguments.build_workers)}
    with (
        tempfile.TemporaryDirectory() as folder,
        Stack(Path(folder), arguments.port, settings) as stack,
    ):
        stack.wait_until_ready()
        details = judge_all(stack, arguments.task, arguments.count)
    show(arguments.task, details)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(details, indent=1))
    return 0 if all(detail["verdict"] in ("accepted", "checked") for detail in details) else 1


def judge_all(stack: Stack, task: str, count: int) -> list[dict[str, Any]]:
    """Submit all at once; the finished submissions in the order they finished."""
    paths = {path.stem: path for path in Catalog()[task].solutions}
    source = paths[SOLUTIONS[task]].read_text()
    sent = [stack.submit(task, f"# number {number}\n{source}") for number in range(count)]
    details = [stack.follow(detail["id"], _WAIT_S) for detail in sent]
    return sorted(details, key=lambda detail: str(detail["finished_at"]))


def show(task: str, details: list[dict[str, Any]]) -> None:
    """Print the rate, what the GPU was held for, and what bounds the rate."""
    first, last = (datetime.fromisoformat(details[at]["finished_at"]) for at in (0, -1))
    seconds = (last - first).total_seconds()
    counted = details[1:]
    rate = 3600 * len(counted) / seconds
    verdicts = {detail["verdict"] for detail in details}
    print(f"{task}: {rate:.0f} an hour ({len(counted)} in {seconds:.1f} s, {verdicts})", end="")
    print(f", budget {BUDGET}" if task == "softmax" else "")
    held = [detail["report"]["gpu"] for detail in counted if detail["report"]["gpu"]]
    if not held:
        print("    no GPU was used: what bounds it is building and checking on the processor")
        return
    parts = {name: sum(gpu[name] for gpu in held) / len(held) for name in _PARTS}
    print("    GPU-seconds each: " + ", ".join(f"{n} {s:.3f}" for n, s in parts.items()))
    busy = sum(gpu["total"] for gpu in held) / seconds
    bound = "the GPU" if busy > 0.85 else "building, or what is done between two measurements"
    print(f"    GPU held {busy:.0%} of the time, so what bounds it is {bound}")


if __name__ == "__main__":
    raise SystemExit(main())
