"""The measuring stage: a launch plan in, results of every case out."""

import math
import secrets
from dataclasses import dataclass
from pathlib import Path

from kernels.contract import (
    CaseResult,
    Ceilings,
    Environment,
    GpuSeconds,
    Task,
    limits,
)
from kernels.contract.wire import AnswerRefused, Failure, MeasureAnswer, MeasureRequest
from workers.answers import JudgeFault, failure_of
from workers.ceilings import told
from workers.jail import JailClient, Limits, Outcome, Status
from workers.reports import Judged

_DOING = "measuring"


@dataclass(frozen=True)
class Measured:
    """What the measurer found."""

    cases: tuple[CaseResult, ...]
    failure: Failure | None
    environment: Environment | None
    log: str
    gpu: GpuSeconds
    """From taking the GPU to giving it back."""
    ceilings: Ceilings | None = None

    @property
    def seconds(self) -> float:
        """For which it was measured."""
        return self.gpu.total


def measure(
    submission: Judged, task: Task, reference: Path, bundle: bytes, measurer: JailClient
) -> Measured:
    """Replay and time a plan on the GPU; JudgeFault or JailUnavailable if we fail."""
    seconds = math.ceil(task.limits.measure)
    ceilings = told()
    bounds = Limits(
        wall_s=seconds,
        cpu_s=8 * seconds,
        memory_bytes=32 * limits.GIB,
        processes=512,
        result_bytes=limits.PLAN_JSON_BYTES,
    )
    request = MeasureRequest(
        task=task,
        reference=str(reference),
        device=submission.device,
        seed=secrets.randbits(63),
        seconds=seconds,
        ceilings=ceilings,
    )
    outcome = measurer.run(request.pack((bundle,)), bounds)
    failure = _failure(outcome, bounds)
    answer = MeasureAnswer(failure=failure)
    if failure is None:
        try:
            answer, _ = MeasureAnswer.unpack(outcome.result)
        except AnswerRefused as error:
            raise JudgeFault("the measurer's answer does not hold", str(error)) from None
    seen = answer.gpu or GpuSeconds(total=0)
    return Measured(
        answer.cases,
        answer.failure,
        answer.environment,
        outcome.output,
        seen.within(outcome.wall_s),
        ceilings,
    )


def _failure(outcome: Outcome, bounds: Limits) -> Failure | None:
    """Why the measurer gave no answer; JudgeFault if the submission's kernels are not to blame.

    Only our own code runs there, and it prints nothing: whatever else ended it, they did not.
    """
    failure = failure_of(outcome, bounds, _DOING)
    if outcome.status is Status.OUTPUT:
        printed = f"more than {bounds.output_bytes >> 20} MiB"
        reason = f"failed assertions of its kernels printed {printed}: look at tl.device_assert"
        return Failure(verdict="runtime_error", reason=reason)
    if failure is not None and failure.verdict != "timeout":
        raise JudgeFault(failure.reason, outcome.output)
    return failure
