"""Judge a plan on the GPU: every case in turn, each with an answer, whatever the plan does."""

import platform
import random
import time
from dataclasses import dataclass

import torch

from kernels.contract import (
    Bundle,
    Case,
    CaseResult,
    Distribution,
    Environment,
    PlanRefused,
    StepShare,
    Timing,
    Verdict,
)
from kernels.contract.wire import Failure, MeasureAnswer, MeasureRequest
from workers.measure import choice, driver, faults, finishing, loader, shares, timing
from workers.measure.account import Account
from workers.measure.bench import GPU, Bench
from workers.measure.compare import largest_errors
from workers.measure.correctness import Correctness, Finding
from workers.measure.replay import Replay

_RESERVE = 0.8
"""Share of the budget after which nothing optional is begun."""

_REPEATS = 5
_FEW_REPEATS = 2
_EXTRA_ROUNDS = 2
"""Further draws of the first distribution in a test case."""

_BENCHMARK_DISTRIBUTIONS = 3


_wreckage: list[object] = []
"""What lived in a CUDA context that a kernel broke: to free it would call into that context."""


@dataclass(frozen=True)
class _Judged:
    """One case and whether the GPU can still be used."""

    result: CaseResult
    alive: bool = True


def judge(request: MeasureRequest, data: bytes) -> MeasureAnswer:
    """The answer to a request; GpuBroken and broken references are the only ways out.

    A plan that cannot be used, runs wrong or breaks the CUDA context gets its verdict.
    """
    account = Account()
    deadline = time.monotonic() + _RESERVE * request.seconds
    with account.part("load"):
        try:
            bundle = loader.load(data, request.task, request.device)
        except PlanRefused as error:
            failure = Failure(verdict="rejected", reason=_sentence(str(error)))
            return MeasureAnswer(failure=failure)
        bench = _set_up(request, bundle, deadline, account)
    with torch.inference_mode():
        cases = _judge_cases(bench)
    return MeasureAnswer(cases=tuple(cases), environment=_environment(bench), gpu=account.sum_up())


def _set_up(request: MeasureRequest, bundle: Bundle, deadline: float, account: Account) -> Bench:
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    # Graphs cannot be captured on the default stream; the process does nothing else.
    torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
    uuid = str(torch.cuda.get_device_properties(0).uuid)
    with torch.inference_mode():
        return Bench.set_up(request, bundle, uuid, deadline, account)


def _environment(bench: Bench) -> Environment:
    return Environment(
        triton=bench.bundle.plan.target.triton,
        torch=torch.__version__,
        python=platform.python_version(),
        driver=bench.sensors.driver() or f"CUDA {driver.driver_version()}",
        gpu=torch.cuda.get_device_properties(0).name,
        jail="",
        worker="",
    )


def _judge_cases(bench: Bench) -> list[CaseResult]:
    """Test cases first; benchmark cases only if those passed, up to the first that fails."""
    results: list[CaseResult] = []
    cases = sorted(bench.request.task.cases, key=lambda case: case.kind == "benchmark")
    for case in cases:
        if case.kind == "benchmark" and any(not r.verdict.passed for r in results):
            break
        judged = judge_case(bench, case)
        results.append(judged.result)
        if not judged.alive:
            break
    return results


def judge_case(bench: Bench, case: Case) -> _Judged:
    """The answer for one case, whatever happens in it."""
    try:
        return _Judged(_judge_case(bench, case))
    except PlanRefused as error:
        return _Judged(_failed(case, Verdict.REJECTED, str(error)))
    except faults.LaunchRefused as error:
        return _Judged(_failed(case, Verdict.RUNTIME_ERROR, str(error)))
    except faults.KernelFailed as error:
        _wreckage.append((bench, error))
        return _Judged(_failed(case, Verdict.RUNTIME_ERROR, str(error)), alive=False)
    except faults.KernelHung as error:
        # Reading results, freeing memory, ending the context: everything would wait for it.
        _wreckage.append((bench, error))
        return _Judged(_failed(case, Verdict.TIMEOUT, str(error)), alive=False)
    except torch.OutOfMemoryError:
        return _Judged(_failed(case, Verdict.REJECTED, _out_of_memory(bench, case)))
    except (faults.CudaError, torch.AcceleratorError) as error:
        known = error if isinstance(error, faults.CudaError) else faults.from_torch(str(error))
        fault = faults.while_running(known, None)
        if isinstance(fault, faults.GpuBroken):
            raise fault from error
        _wreckage.append((bench, error))
        return _Judged(_failed(case, Verdict.RUNTIME_ERROR, str(fault)), alive=False)


def _judge_case(bench: Bench, case: Case) -> CaseResult:
    plan = bench.bundle.plan.case(case.name)
    replay = Replay(plan, bench.bundle, bench.kernels, GPU)
    correctness = Correctness(bench, case, replay, {})
    if any(step.kind == "choice" for step in plan.steps):
        _put_inputs(correctness)
        with bench.account.part("choices"):
            correctness.picks = choice.decide(replay, bench.clock, case.kind == "benchmark")
    with bench.account.part("correctness"):
        finding = _check(correctness)
    measured: Timing | None = None
    parts: tuple[StepShare, ...] = ()
    if finding is None and case.kind == "benchmark":
        outcome = timing.measure(correctness)
        measured, finding = outcome.timing, outcome.finding
        replayed = (replay, correctness.picks, bench.clock, lambda: _put_inputs(correctness))
        parts = shares.measure(*replayed)
        finding = finding or finishing.judge(*replayed, measured.microseconds)
    return _result(correctness, finding, measured, parts)


def _check(correctness: Correctness) -> Finding | None:
    """Every distribution that is due; the first thing that is wrong."""
    for place, (distribution, round_) in enumerate(_draws(correctness)):
        repeats = _REPEATS if place == 0 else _FEW_REPEATS
        finding = correctness.check(distribution, round_, repeats)
        if finding is not None:
            return finding
        if place >= 1 and correctness.bench.seconds_left < 0:
            return None
    return None


def _draws(correctness: Correctness) -> list[tuple[Distribution, int]]:
    """Which inputs a case is checked on: all kinds in tests, a few secret ones in benchmarks."""
    bench, case = correctness.bench, correctness.case
    first, *others = bench.request.task.distributions
    if case.kind == "test":
        extra = [(first, 1 + number) for number in range(_EXTRA_ROUNDS)]
        return [(first, 0), *((other, 0) for other in others), *extra]
    pick = random.Random(bench.seed("distributions", case.name))
    count = min(_BENCHMARK_DISTRIBUTIONS - 1, len(others))
    return [(first, 0), *((other, 0) for other in pick.sample(others, count))]


def _put_inputs(correctness: Correctness) -> None:
    """Inputs and constants in place, everything else poisoned."""
    bench, memory = correctness.bench, correctness.replay.memory
    first = bench.request.task.distributions[0]
    memory.load(memory.image(bench.make_inputs(correctness.case, first, 0).buffers))
    memory.restore_constants()
    memory.poison(0xFF)


def _result(
    correctness: Correctness,
    finding: Finding | None,
    measured: Timing | None,
    parts: tuple[StepShare, ...],
) -> CaseResult:
    if finding is not None and finding.verdict is not Verdict.IMPLAUSIBLE:
        measured, parts = None, ()
    return CaseResult(
        case=correctness.case.name,
        kind=correctness.case.kind,
        verdict=Verdict.ACCEPTED if finding is None else finding.verdict,
        reason="" if finding is None else _sentence(finding.reason),
        errors=largest_errors(correctness.comparisons),
        mismatch=None if finding is None else finding.mismatch,
        timing=measured,
        shares=parts,
        configs=choice.configs(correctness.replay, correctness.picks),
    )


def _failed(case: Case, verdict: Verdict, reason: str) -> CaseResult:
    return CaseResult(case=case.name, kind=case.kind, verdict=verdict, reason=_sentence(reason))


def _sentence(text: str) -> str:
    return text[:500] or "unknown"


def _out_of_memory(bench: Bench, case: Case) -> str:
    plan = bench.bundle.plan.case(case.name)
    needed = sum(buffer.nbytes for buffer in plan.buffers) / 2**30
    _, total = torch.cuda.mem_get_info()
    return (
        f"the plan's tensors take {needed:.1f} GiB, which with the inputs and the reference is "
        f"more than the {total / 2**30:.0f} GiB of the GPU: allocate less"
    )
