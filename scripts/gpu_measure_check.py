"""Measure packed plans on the GPU of this machine and say whether each gets its verdict.

python scripts/gpu_measure_check.py FOLDER [--repeat N] [--json FILE]

FOLDER holds <task>__<verdict>__<name>.bundle files, as scripts/pack_bundles.py writes them. Every
plan is judged in a fresh process that is forked before CUDA is touched, as the service does it,
but in no jail. Nothing is built.
"""

import argparse
import cProfile
import json
import os
import pstats
import select
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kernels.catalog import Catalog
from kernels.contract import (
    DEVICES,
    Case,
    CaseResult,
    DeviceName,
    GpuSeconds,
    Task,
    Verdict,
    strongest,
)
from kernels.contract.wire import CeilingsAnswer, CeilingsRequest, MeasureAnswer, MeasureRequest

SECONDS = 60.0


@dataclass
class Judged:
    """One plan, judged once."""

    bundle: str
    expected: str
    verdict: str
    seconds: float
    answer: MeasureAnswer | None
    problem: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--device", type=DeviceName, default=DeviceName.H200)
    parser.add_argument("--only", default="", help="part of the names to measure")
    parser.add_argument("--benchmarks", action="store_true", help="only benchmark cases")
    parser.add_argument("--profile", action="store_true", help="say where the seconds go")
    parser.add_argument("--ceilings", action="store_true", help="first take the GPU's ceilings")
    options = parser.parse_args()
    import workers.measure.prewarm  # noqa: F401  imports, touches no GPU

    record: dict[str, Any] = {}
    results: list[Judged] = []
    if options.ceilings:
        show_ceilings(options.device)
    if options.folder is not None:
        for path in sorted(options.folder.glob("*.bundle")):
            if options.only in path.name:
                results += judge_repeatedly(path, options)
        show_summary(results)
        record["results"] = [as_json(result) for result in results]
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1))
    return sum(result.verdict != result.expected for result in results)


def judge_repeatedly(path: Path, options: argparse.Namespace) -> list[Judged]:
    """Judge one plan several times and print its cases."""
    found = []
    for _ in range(options.repeat):
        found.append(judge(path, options, benchmarks_of(path) if options.benchmarks else None))
        show(found[-1])
    if options.repeat > 1:
        show_spread(found)
    return found


def benchmarks_of(path: Path) -> tuple[Case, ...]:
    """The benchmark cases of a packed plan's task."""
    task = Catalog()[path.stem.split("__")[0]].task
    return tuple(case for case in task.cases if case.kind == "benchmark")


def judge(path: Path, options: argparse.Namespace, cases: tuple[Case, ...] | None = None) -> Judged:
    """Judge one plan in a child, on some of the task's cases only if they are given."""
    name, expected, _ = path.stem.split("__", 2)
    folder = Catalog()[name]
    task = folder.task
    if cases is not None:
        task = Task.model_validate(dict(task) | {"cases": cases})
    request = MeasureRequest(
        task=task,
        reference=str(folder.reference),
        device=options.device,
        seed=int.from_bytes(os.urandom(7), "little"),
        seconds=options.seconds,
    ).pack((path.read_bytes(),))
    started = time.monotonic()
    work = _run_profiled if getattr(options, "profile", False) else _run
    status, data = in_child(lambda: work(request), options.seconds)
    seconds = time.monotonic() - started
    if status != "ok":
        verdict = "timeout" if status == "timeout" else "judge_error"
        return Judged(path.stem, expected, verdict, seconds, None, data.decode(errors="replace"))
    answer, _ = MeasureAnswer.unpack(data)
    if answer.failure is not None:
        verdict = answer.failure.verdict
        return Judged(path.stem, expected, verdict, seconds, answer, answer.failure.reason)
    worst: Verdict = strongest([case.verdict for case in answer.cases])
    return Judged(path.stem, expected, worst.value, seconds, answer)


def _run(request: bytes) -> bytes:
    from workers.measure.main import run

    return run(request)


def _run_profiled(request: bytes) -> bytes:
    """Print seconds by part and case, and the functions that took most."""
    from workers.measure import judge as judging

    judge_case = judging.judge_case

    def watched(bench: Any, case: Any) -> Any:
        before = bench.account.sum_up()
        result = judge_case(bench, case)
        print(f"    {case.name:20} {parts_of(bench.account.sum_up(), before)}", flush=True)
        return result

    judging.judge_case = watched
    profiler = cProfile.Profile()
    answer = profiler.runcall(_run, request)
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
    sys.stdout.flush()
    return answer


def parts_of(seconds: GpuSeconds, before: GpuSeconds | None = None) -> str:
    """Seconds by part, less those of before."""
    earlier = before.model_dump() if before else {}
    return ", ".join(
        f"{name} {value - earlier.get(name, 0.0):.3f}"
        for name, value in seconds.model_dump().items()
    )


def show_ceilings(device: DeviceName) -> None:
    """Take the GPU's ceilings in a child and print them."""
    started = time.monotonic()
    status, data = in_child(lambda: _run(CeilingsRequest(device=device).pack()), SECONDS)
    seconds = time.monotonic() - started
    if status != "ok":
        print(f"ceilings {status}: {data.decode(errors='replace')[-3000:]}")
        return
    ceilings = CeilingsAnswer.unpack(data)[0].ceilings
    print(f"ceilings in {seconds:.2f} s: {ceilings}, {ceilings.problem(DEVICES[device]) or 'sane'}")


def in_child(work: Callable[[], bytes], limit: float) -> tuple[str, bytes]:
    """What `work` returns in a forked child: ok, failed (with the traceback) or timeout."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = b"1" + work()
        except BaseException:  # noqa: BLE001  a child must answer, whatever went wrong
            answer = b"0" + traceback.format_exc().encode()
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writer)
    data = b""
    deadline = time.monotonic() + limit
    while True:
        ready, _, _ = select.select([reader], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            os.kill(child, signal.SIGKILL)
            break
        part = os.read(reader, 1 << 20)
        if not part:
            break
        data += part
    os.close(reader)
    _, status = os.waitpid(child, 0)
    if not data:
        return (
            ("timeout", b"") if time.monotonic() >= deadline else ("failed", str(status).encode())
        )
    return ("ok" if data[:1] == b"1" else "failed"), data[1:]


def show(result: Judged) -> None:
    """Print one judged plan."""
    mark = "ok " if result.verdict == result.expected else "NOT"
    gpu = result.answer.gpu if result.answer else None
    held = parts_of(gpu.within(result.seconds)) if gpu else "unknown"
    print(f"\n{mark} {result.bundle}: {result.verdict}, GPU seconds: {held}")
    if result.problem:
        print("    " + result.problem[-3000:].replace("\n", "\n    "))
    for case in result.answer.cases if result.answer else ():
        show_case(case)
    sys.stdout.flush()


def show_case(case: CaseResult) -> None:
    """Print one case."""
    errors = ", ".join(f"{e.output} {e.error:.1e}/{e.allowed:.1e}" for e in case.errors)
    line = f"    {case.case:20} {case.verdict.value:16} {errors}"
    timing = case.timing
    if timing is not None:
        spread = (timing.high - timing.low) / timing.microseconds * 100
        line += (
            f" | {timing.microseconds:9.2f} us ±{spread / 2:.2f} % n={len(timing.samples)}"
            f" {timing.flops_per_second / 1e12:6.1f} TF {timing.bytes_per_second / 1e9:6.0f} GB/s"
            f" roof {timing.roofline * 100:5.1f} % {timing.bound}"
            f" x{timing.speedup or 0:.2f} torch {(timing.clock_hz or 0) / 1e6:.0f} MHz"
            f" {timing.power_watts or 0:.0f} W {'/'.join(timing.throttled)}"
        )
    print(line)
    for function, config in case.configs.items():
        print(f"        {function}: {config}")
    if len(case.shares) > 1:
        print("        " + ", ".join(f"{s.step} {s.share * 100:.0f} %" for s in case.shares))
    if case.reason:
        print(f"        {case.reason}")


def show_spread(results: list[Judged]) -> None:
    """Print how far repeated judgings of one plan lie apart."""
    times: dict[str, list[float]] = {}
    for result in results:
        for case in result.answer.cases if result.answer else ():
            if case.timing is not None:
                times.setdefault(case.case, []).append(case.timing.microseconds)
    for case_name, values in times.items():
        middle = statistics.median(values)
        worst = max(abs(value - middle) for value in values) / middle * 100
        print(f"    spread {case_name:20} median {middle:9.2f} us, farthest {worst:.2f} % off")


def show_summary(results: list[Judged]) -> None:
    """Print which plans did not get their verdict."""
    print()
    for result in results:
        if result.verdict != result.expected:
            print(f"NOT {result.bundle}: {result.verdict}")
    right = sum(result.verdict == result.expected for result in results)
    print(f"{right} of {len(results)} plans got their verdict")


def as_json(result: Judged) -> dict[str, Any]:
    answer = result.answer
    return {
        "bundle": result.bundle,
        "expected": result.expected,
        "verdict": result.verdict,
        "seconds": result.seconds,
        "problem": result.problem,
        "answer": None if answer is None else answer.model_dump(mode="json"),
    }


if __name__ == "__main__":
    sys.exit(main())
