"""Is the clock true, does it repeat, and does it order kernels that differ by one percent?

python benchmarks/bench_clock.py [--judgings N] [--pairs N] [--json FILE], on a machine with a
Hopper GPU. Three tables:

- bias: kernels from 3 us to 5 ms by the clock, by the second clock and by the profiler (CUPTI),
  clock and profiler over the same replays; budget 2 %
- spread: one solution of each task, its benchmark cases judged N times in fresh processes;
  budget 0.5 %
- order: pairs of kernels whose work differs by 1 %, each judged N times by itself, as a board
  would; budget 95 of 100
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kernels.catalog import Catalog
from kernels.contract import DEVICES, DeviceName
from kernels.contract.wire import BuildRequest
from scripts.gpu_measure_check import Judged, in_child, judge, show, show_spread

SOLUTIONS = {"softmax": "fused", "matmul": "persistent"}
JUDGINGS_IN_A_PROCESS = 25
ROUNDS = 40
SOFTMAX = [(16, 256), (256, 1024), (1024, 1024), (4096, 1024), (4096, 3000), (16384, 4096)]
ADD_MIB = [1, 8, 64, 512, 4096]
MATMUL = [1024, 2048, 4096, 8192, 12288]

Work = Callable[[], object]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--judgings", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--no-bias", action="store_true")
    parser.add_argument("--cases", type=int, help="judge only the first so many benchmark cases")
    parser.add_argument("--tasks", nargs="*", default=list(SOLUTIONS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--device", type=DeviceName, default=DeviceName.H200)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    if not Path("/dev/nvidiactl").exists():
        print("clock: needs a Hopper GPU")
        return 0
    import workers.measure.prewarm  # noqa: F401  once, for all children

    record = {
        "bias": [] if options.no_bias else ask(lambda: bias(options.device)),
        "spread": spread(options),
        "order": order(options),
    }
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1))
    return 0


def ask(work: Callable[[], Any], limit: float = 200) -> Any:
    """What work returns in a child that may use CUDA; the program ends if it fails."""
    status, data = in_child(lambda: json.dumps(work()).encode(), limit)
    if status != "ok":
        sys.exit(f"{status}: {data.decode(errors='replace')[-3000:]}")
    return json.loads(data)


def known_kernels() -> Iterator[tuple[str, Work]]:
    """Single kernels of torch, from a few microseconds to milliseconds."""
    import torch

    for shape in SOFTMAX:
        x = torch.randn(shape, device="cuda").half()
        y = torch.empty_like(x)
        yield f"softmax {shape}", partial(torch.softmax, x, -1, out=y)
    for mib in ADD_MIB:
        x = torch.zeros(mib << 18, device="cuda")
        y = torch.empty_like(x)
        yield f"add, {mib} MiB", partial(torch.add, x, 1.0, out=y)
    for size in MATMUL:
        yield f"matmul {size}", product(size, size, size)


def product(m: int, n: int, k: int) -> Work:
    """A bfloat16 matrix product."""
    import torch

    a = torch.randn((m, k), device="cuda").bfloat16()
    b = torch.randn((k, n), device="cuda").bfloat16()
    c = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
    return partial(torch.matmul, a, b, out=c)


def on_a_stream() -> Any:
    """Inference mode on a stream that graphs can be captured on."""
    import torch

    torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
    return torch.inference_mode()


def bias(device: DeviceName) -> list[dict[str, Any]]:
    """Each kernel by both clocks and by the profiler, in microseconds."""
    from workers.measure.clock import Clock
    from workers.measure.second import SecondClock

    with on_a_stream():
        clock = Clock(DEVICES[device], 1)
        second = SecondClock(clock)
        print(f"constants: events {clock.overhead:.2f} us, stamps {second.overhead:.2f} us")
        rows = [bias_of(name, work, clock, second) for name, work in known_kernels()]
    for row in rows:
        print(
            f"    {row['kernel']:24} profiler {row['profiler']:9.2f} us, clock "
            f"{row['clock']:9.2f} us ({row['bias'] * 100:+6.2f} %, "
            f"{row['clock'] - row['profiler']:+.2f} us), second clock / clock {row['second']:.4f}",
            flush=True,
        )
    return rows


def bias_of(name: str, work: Work, clock: Any, second: Any) -> dict[str, Any]:
    """One kernel; the profiler slows memory down by up to 3 %, so both see the same replays."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    from workers.measure.contender import Contender
    from workers.measure.replay import capture

    work()
    graph = capture(work)
    contender = Contender(name, graph.replay)
    clock.warm_up([contender])
    ratio = second.ratio(contender, second.capture(work), ROUNDS)
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        read = statistics.median(clock.race([contender], ROUNDS).times[name])
        torch.cuda.synchronize()
    spans = [
        (event.time_range.start, event.time_range.elapsed_us())
        for event in profiler.events()
        if event.device_type.name == "CUDA"
        and not any(word in event.name for word in ("FillFunctor", "Memset", "Memcpy"))
    ]
    # Torch splits what 32 bits cannot index into several kernels.
    each = len(spans) // ROUNDS
    lengths = [length for _, length in sorted(spans)]
    seen = statistics.median(
        sum(lengths[first : first + each]) for first in range(0, len(lengths), each)
    )
    return {
        "kernel": name, "profiler": seen, "clock": read, "bias": read / seen - 1,
        "second": ratio, "spans": len(spans),
    }  # fmt: skip


def spread(options: argparse.Namespace) -> dict[str, Any]:
    """Times of one solution of each task over fresh processes."""
    from scripts.pack_bundles import SECONDS, build

    found: dict[str, Any] = {}
    for task in options.tasks if options.judgings else ():
        folder = Catalog()[task]
        benchmarks = tuple(case for case in folder.task.cases if case.kind == "benchmark")
        benchmarks = benchmarks[: options.cases]
        name = SOLUTIONS[task]
        source = next(path for path in folder.solutions if path.stem == name).read_text()
        with tempfile.TemporaryDirectory() as place:
            bundle = Path(place) / f"{task}__accepted__{name}.bundle"
            request = BuildRequest(
                source=source, entry=folder.task.entry, task=folder.task,
                device=options.device, seconds=SECONDS,
            )  # fmt: skip
            if not build(request, bundle):
                sys.exit(f"{task}/{name} does not build")
            results = [judge(bundle, options, benchmarks) for _ in range(options.judgings)]
        show(results[0])
        show_spread(results)
        show_certainty(results)
        found[task] = [
            [case.model_dump(mode="json") for case in result.answer.cases if case.timing]
            for result in results
            if result.answer is not None
        ]
    return found


def show_certainty(results: list[Judged]) -> None:
    """Print how far scores lie apart, how often intervals hold the median, and the verdicts."""
    answers = [result.answer for result in results if result.answer is not None]
    timed = [[case.timing for case in answer.cases if case.timing] for answer in answers]
    scores = [statistics.geometric_mean(t.microseconds for t in timings) for timings in timed]
    middle = statistics.median(scores)
    farthest = max(abs(score / middle - 1) for score in scores)
    inside = [
        timing.low <= statistics.median(t.microseconds for t in case) <= timing.high
        for case in zip(*timed, strict=True)
        for timing in case
    ]
    accepted = sum(result.verdict == result.expected for result in results)
    held = statistics.mean(answer.gpu.total for answer in answers if answer.gpu)
    print(
        f"    score: farthest {farthest:.2%} off; median in {sum(inside)}/{len(inside)} intervals; "
        f"{accepted} of {len(results)} accepted; GPU held {held:.2f} s"
    )


def order(options: argparse.Namespace) -> dict[str, Any]:
    """How often the kernel with 1 % more work is found slower."""
    rows: dict[str, list[list[float]]] = {}
    left = options.pairs
    while left > 0:
        count = min(JUDGINGS_IN_A_PROCESS, left)
        left -= count
        for name, times in ask(partial(judge_pairs, options.device, count)).items():
            rows.setdefault(name, []).extend(times)
    for name, times in rows.items():
        right = sum(more > less for less, more in times)
        middle = statistics.median(more / less for less, more in times)
        print(f"    {name:24} ordered right in {right} of {len(times)}, ratio {middle:.4f}")
    return rows


def pairs() -> Iterator[tuple[str, Work, Work, int]]:
    """Two works that differ by 1 %, and the FLOPs of the first."""
    import torch

    x = torch.zeros(1_010_000 * 32, device="cuda")
    y = torch.empty_like(x)
    less = 1_000_000 * 32
    yield (
        "add, 122 MiB",
        partial(torch.add, x[:less], 1.0, out=y[:less]),
        partial(torch.add, x, 1.0, out=y),
        0,
    )
    flops = 2 * 4096 * 4096 * 6400
    yield "matmul, k = 6400", product(4096, 4096, 6400), product(4096, 4096, 6464), flops


def judge_pairs(device: DeviceName, count: int) -> dict[str, list[tuple[float, float]]]:
    """Each pair so many times: both by themselves, in random order."""
    found: dict[str, list[tuple[float, float]]] = {}
    with on_a_stream():
        for name, less, more, flops in pairs():
            for work in (less, more):
                work()
            for _ in range(count):
                times = {}
                for work in random.sample((less, more), 2):
                    times[work] = time_alone(device, work, flops)
                found.setdefault(name, []).append((times[less], times[more]))
    return found


def time_alone(device: DeviceName, work: Work, flops: int) -> float:
    """Microseconds as timing.measure finds them, with everything made anew."""
    from workers.measure.anchor import Anchors
    from workers.measure.clock import Clock
    from workers.measure.contender import Contender
    from workers.measure.estimate import latency
    from workers.measure.replay import capture
    from workers.measure.rounds import until_sure
    from workers.measure.timing import anchor_contender

    clock = Clock(DEVICES[device], random.getrandbits(32))
    anchors = Anchors(device)
    anchor = anchors.matmul(flops) if flops else anchors.copy()
    candidate = Contender("candidate", capture(work).replay)
    times = until_sure(
        clock,
        [candidate, anchor_contender(anchor)],
        anchored=anchor.published is not None,
        dense=bool(flops),
        limit=10.0,
    )
    return latency(times["candidate"], 1, times["anchor"], anchor.published).value


if __name__ == "__main__":
    sys.exit(main())
