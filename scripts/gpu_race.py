"""Race the solutions of a task against torch on the GPU of this machine, natively, in one process.

    python -m scripts.gpu_race flash_attention [--solution taking_turns] [--rounds 15]
                               [--case NAME] [--file FILE ...]

For tuning: Triton and its autotuner run as they are, nothing is judged but the error. Each solution
and torch's version become a CUDA graph; in every round each is replayed once, in an order drawn
anew, after a write of 256 MiB. What is printed are medians of events.
"""

import argparse
import importlib.util
import random
import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from kernels.catalog import Catalog, TaskFolder
from kernels.contract import Case
from workers.measure import inputs, reference
from workers.measure.compare import relative_error

_FLUSH_BYTES = 256 << 20
_WARM_UP = 4
_SEED = 7

Run = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("--solution", action="append", help="only these")
    parser.add_argument("--file", type=Path, nargs="*", default=[], help="further solutions")
    parser.add_argument("--case", action="append", help="only these benchmark cases")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("there is no GPU here: run this on the machine that has one")
    folder = Catalog()[options.task]
    entries = {
        path.stem: entry(folder, path)
        for path in (*folder.solutions, *options.file)
        if options.solution is None or path.stem in options.solution or path in options.file
    }
    for case in folder.task.cases:
        if case.kind == "benchmark" and (options.case is None or case.name in options.case):
            show(folder, case, entries, options.rounds)


def entry(folder: TaskFolder, path: Path) -> Callable[..., Any]:
    """The entry function of a solution, whose file is run in this process."""
    spec = importlib.util.spec_from_file_location(f"solution_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, folder.task.entry)
    return found


def show(
    folder: TaskFolder, case: Case, entries: dict[str, Callable[..., Any]], rounds: int
) -> None:
    """Race on one case and print error, time, speed and share of torch's speed of each."""
    task, judge = folder.task, reference.load(str(folder.reference))
    made = inputs.make(task, case, task.distributions[0], 0, _SEED, judge, "cuda")
    # Results that are right in many ways are not compared.
    expected = [] if judge.accept else judge.expect(made.arguments, task.results(case))
    runs = {
        name: partial(solve, *made.arguments)
        for name, solve in {"torch": judge.baseline, **entries}.items()
    }
    errors = {
        name: [
            relative_error(got.double(), e.reference)
            for got, e in zip(as_tuple(run()), expected, strict=not judge.accept)
        ]
        for name, run in runs.items()
    }
    del expected
    times = race(runs, rounds)
    print(case.name)
    for name, microseconds in sorted(times.items(), key=lambda item: item[1]):
        print(
            f"  {name:24} {microseconds:9.1f} us {task.flops(case) / microseconds / 1e6:7.1f} TF "
            f"{task.bytes(case) / microseconds / 1e3:7.0f} GB/s x torch "
            f"{times['torch'] / microseconds:.3f} error "
            + ", ".join(f"{error:.2e}" for error in errors[name]),
            flush=True,
        )


def race(runs: Mapping[str, Run], rounds: int) -> dict[str, float]:
    """Median microseconds of each, replayed in turn."""
    graphs = {name: capture(run) for name, run in runs.items()}
    flush = torch.empty(_FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    samples: dict[str, list[float]] = {name: [] for name in graphs}
    for number in range(_WARM_UP + rounds):
        events: dict[str, tuple[torch.cuda.Event, torch.cuda.Event]] = {}
        for name in random.sample(list(graphs), len(graphs)):
            flush.zero_()
            first, last = event(), event()
            first.record()
            graphs[name].replay()
            last.record()
            events[name] = (first, last)
        torch.cuda.synchronize()
        if number >= _WARM_UP:
            for name, (first, last) in events.items():
                samples[name].append(1e3 * first.elapsed_time(last))
    return {name: statistics.median(times) for name, times in samples.items()}


def capture(run: Run) -> torch.cuda.CUDAGraph:
    """The call as a graph; it has run before, so that everything is compiled and tuned."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph


def event() -> torch.cuda.Event:
    """An event that takes the time."""
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def as_tuple(result: Tensor | list[Tensor] | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


if __name__ == "__main__":
    main()
