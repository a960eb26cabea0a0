"""The whole stack on a machine with a Hopper GPU, in one call.

Starts service and workers, submits every solution and every verdict fixture of every task, checks
the verdicts, and writes each report to a folder:

    python -m scripts.gpu_stack --out build/reports [--task softmax] [--repeat 3] [--at-once 6]
                                [--seconds 500]

With several at once they are built in parallel and measured one after the other; the seconds that
are printed then tell nothing. Solutions go first; what --seconds leave out is said.
"""

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.catalog import Catalog
from scripts.stack import ROOT, Stack

_WAIT_S = 180


@dataclass(frozen=True)
class Candidate:
    """A file to submit and the verdict it must get."""

    task: str
    path: Path
    source: str
    expected: str

    @property
    def is_fixture(self) -> bool:
        """Whether it must not be accepted."""
        return self.expected != "accepted"

    @property
    def label(self) -> str:
        """Name of the report's file."""
        return f"{self.task}-{self.expected}-{self.path.stem}"


def main() -> int:
    """0 if every verdict was the expected one and a GPU measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", action="append", help="only these tasks")
    parser.add_argument("--repeat", type=int, default=1, help="judge each solution so often")
    parser.add_argument("--skip", action="append", default=[], help="verdicts to leave out")
    parser.add_argument("--first", action="append", default=[], help="files to begin with")
    parser.add_argument("--at-once", type=int, default=1, help="submissions under way together")
    parser.add_argument("--seconds", type=float, default=3600, help="then submit nothing further")
    parser.add_argument("--port", type=int, default=8123)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + arguments.seconds
    with Stack(ROOT / "var" / "gpu", arguments.port) as stack:
        health = stack.wait_until_ready()
        measured = [worker["gpu"] for worker in health["workers"] if worker["gpu"]]
        print(f"GPUs: {measured or 'none'}", flush=True)
        chosen = [
            candidate
            for candidate in candidates(arguments.task, arguments.repeat)
            if candidate.expected not in arguments.skip
        ]
        chosen.sort(key=lambda each: (each.path.stem not in arguments.first, each.is_fixture))

        def turn(each: Candidate) -> bool | None:
            return judge(stack, each, arguments.out) if time.monotonic() < deadline else None

        with ThreadPoolExecutor(arguments.at_once) as pool:
            found = list(pool.map(turn, chosen))
        (arguments.out / "health.json").write_text(json.dumps(health, indent=1))
        for part in stack.parts:
            (arguments.out / f"{part.module}.log").write_bytes(part.log.read_bytes()[-200_000:])
    right = found.count(True)
    print(f"{right} of {len(found)} verdicts as expected, {found.count(None)} left out")
    return 0 if measured and right == len(found) else 1


def candidates(tasks: list[str] | None, repeat: int) -> Iterator[Candidate]:
    """Every solution, `repeat` times, and every fixture."""
    for name, folder in Catalog().items():
        if tasks is None or name in tasks:
            for path in folder.solutions:
                for _ in range(repeat):
                    yield Candidate(name, path, path.read_text(), "accepted")
            for fixture in folder.fixtures:
                yield Candidate(name, fixture.path, fixture.source, fixture.verdict.value)


def judge(stack: Stack, candidate: Candidate, out: Path) -> bool:
    """Submit, print one line, write the report; whether the verdict is the expected one."""
    started = time.monotonic()
    detail = stack.submit(candidate.task, candidate.source, wait=_WAIT_S)
    seconds = time.monotonic() - started
    right: bool = detail["verdict"] == candidate.expected
    print(
        f"{'ok  ' if right else 'FAIL'} {candidate.label:45} {detail['verdict']} in {seconds:.1f} s"
        f" {summary(detail['report'])} {'' if right else detail['reason']}",
        flush=True,
    )
    if detail["report"] is not None:
        (out / f"{candidate.label}.json").write_text(json.dumps(detail["report"], indent=1))
    return right


def summary(report: dict[str, Any] | None) -> str:
    """Score, and the median share of the roofline and speed-up over torch of its cases."""
    timings = [case["timing"] for case in (report or {}).get("cases", []) if case["timing"]]
    if not timings or report is None or report["score"] is None:
        return ""
    roofline = statistics.median(timing["roofline"] for timing in timings)
    speedups = [t["torch_microseconds"] / t["microseconds"] for t in timings]
    return (
        f"{report['score']:.1f} us, roofline {roofline:.0%}, "
        f"x torch {min(speedups):.2f} to {max(speedups):.2f}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
