"""The check without a GPU: the submission runs on the CPU interpreter, our code compares.

Three processes, so that the submission never meets the reference: ours makes the inputs, the
jail runs the submission on them, ours compares what it returned.
"""

import math
import secrets
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernels.contract import (
    Case,
    CaseResult,
    Choice,
    Diagnostic,
    Distribution,
    Plan,
    Submission,
    Task,
    TensorSpec,
    Verdict,
    limits,
)
from kernels.contract.wire import (
    AnswerRefused,
    CompareAnswer,
    CompareRequest,
    Failure,
    InputsAnswer,
    InputsRequest,
    InterpretAnswer,
    InterpretRequest,
    KernelFacts,
    Run,
)
from workers.answers import JudgeFault, garbled, run_submitted, signal_name
from workers.jail import JailClient, Limits, Status
from workers.ours import ask

_DOING = "the run on the interpreter"
_MEMORY_SIGNALS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)
"""How a process ends that used memory which is not its own."""


@dataclass(frozen=True)
class Checked:
    """What the interpreter showed."""

    cases: tuple[CaseResult, ...]
    caveats: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    log: str
    seconds: float


def check(
    submission: Submission, task: Task, reference: Path, plan: Plan,
    interpreter: JailClient, ours: JailClient,
) -> Checked:  # fmt: skip
    """Run the interpreted cases; JudgeFault if it can run none, or with JailUnavailable if we fail.

    Cases that it cannot run are left out, and a caveat says so.
    """
    runs = tuple(_runs(task))
    seed = secrets.randbits(63)
    inputs = _make_inputs(task, reference, seed, runs, ours)
    bounds = _bounds(task)
    request = InterpretRequest(
        source=submission.source,
        entry=submission.entry,
        task=task,
        device=submission.device,
        runs=runs,
        kernels=_facts(plan),
        configs=_configs(plan),
    )
    packed = request.pack(tuple(inputs))
    outcome, failure = run_submitted(interpreter, packed, bounds, _DOING)
    if outcome.status is Status.SIGNAL and outcome.signal in _MEMORY_SIGNALS:
        failure = Failure(
            verdict="memory_violation",
            reason="a kernel read or wrote outside its tensors: the interpreter ended with "
            f"signal {signal_name(outcome)}",
        )
    answer, results = InterpretAnswer(completed=0, failure=failure), list[bytes]()
    if failure is None:
        answer, results = _read(outcome.result, task, runs)
    done = answer.with_results(runs)
    cases = _compare(task, reference, seed, done, results, ours) if done else ()
    diagnostics: tuple[Diagnostic, ...] = ()
    if answer.failure is not None:
        failed = task.case(runs[answer.completed].case)
        cases = (*(c for c in cases if c.case != failed.name), _failed(failed, answer.failure))
        diagnostics = answer.failure.diagnostics
    if not cases:
        raise JudgeFault(f"no case can be judged here: {_why(answer)}", lasting=True)
    caveats = answer.caveats
    if answer.left_out:
        caveats += (f"{len(answer.left_out)} of {len(runs)} runs were left out: {_why(answer)}.",)
    return Checked(cases, caveats, diagnostics, outcome.output, outcome.wall_s)


def _runs(task: Task) -> Iterator[Run]:
    for case in task.cases:
        if case.interpreted:
            for distribution in task.distributions:
                yield Run(case=case.name, distribution=Distribution(distribution), round=0)


def _bounds(task: Task) -> Limits:
    return Limits(
        wall_s=math.ceil(task.limits.interpret_wall),
        cpu_s=math.ceil(task.limits.interpret),
        memory_bytes=8 * limits.GIB,
        result_bytes=limits.BUNDLE_BYTES,
    )


def _make_inputs(
    task: Task, reference: Path, seed: int, runs: tuple[Run, ...], ours: JailClient
) -> list[bytes]:
    request = InputsRequest(task=task, reference=str(reference), seed=seed, runs=runs)
    return InputsAnswer.unpack(ask(ours, request.pack(), "making inputs"))[1]


def _compare(
    task: Task, reference: Path, seed: int, runs: tuple[Run, ...], results: list[bytes],
    ours: JailClient,
) -> tuple[CaseResult, ...]:  # fmt: skip
    request = CompareRequest(task=task, reference=str(reference), seed=seed, runs=runs)
    answer = ask(ours, request.pack(tuple(results)), "comparing results")
    return CompareAnswer.unpack(answer)[0].cases


def _why(answer: InterpretAnswer) -> str:
    reasons = iter(answer.left_out.values())
    return next(reasons, "all cases are too large for the CPU interpreter")[:400]


def _read(data: bytes, task: Task, runs: tuple[Run, ...]) -> tuple[InterpretAnswer, list[bytes]]:
    try:
        answer, results = InterpretAnswer.unpack(data)
        _expect(answer, results, task, runs)
    except AnswerRefused as error:
        return InterpretAnswer(completed=0, failure=garbled(error, _DOING)), []
    return answer, results


def _expect(
    answer: InterpretAnswer, results: list[bytes], task: Task, runs: tuple[Run, ...]
) -> None:
    short = len(runs) - answer.completed
    if short < 0 or (short > 0) != (answer.failure is not None):
        raise AnswerRefused("it must complete all runs or say why not")
    specs: list[TensorSpec] = []
    for run in answer.with_results(runs):
        specs += task.results(task.case(run.case))
    if [len(result) for result in results] != [spec.nbytes for spec in specs]:
        raise AnswerRefused("its results do not have the sizes of the task's outputs")


def _failed(case: Case, failure: Failure) -> CaseResult:
    return CaseResult(
        case=case.name, kind=case.kind, verdict=Verdict(failure.verdict), reason=failure.reason
    )


def _facts(plan: Plan) -> tuple[KernelFacts, ...]:
    return tuple(
        KernelFacts(
            function=kernel.function,
            registers=kernel.resources.registers,
            spills=kernel.resources.stack_bytes // 4,
            shared=kernel.resources.shared_bytes,
            warps=kernel.warps,
        )
        for kernel in plan.kernels.values()
    )


def _configs(plan: Plan) -> dict[str, tuple[str, ...]]:
    configs: dict[str, tuple[str, ...]] = {}
    for case in plan.cases:
        for step in case.steps:
            if isinstance(step, Choice):
                names = tuple(alternative.config for alternative in step.alternatives)
                configs[step.function] = configs.get(step.function, ()) + names
    return {function: tuple(dict.fromkeys(names)) for function, names in configs.items()}
