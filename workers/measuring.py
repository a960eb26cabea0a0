"""The measuring stage: a launch plan in, results of every case out."""

import math
import secrets
from dataclasses import dataclass
from pathlib import Path

from kernels.contract import CaseResult, Environment, Submission, Task, limits
from kernels.contract.wire import AnswerRefused, Failure, MeasureAnswer, MeasureRequest
from workers.answers import JudgeFault, failure_of
from workers.jail import JailClient, Limits

_DOING = "measuring"


@dataclass(frozen=True)
class Measured:
    """What the measurer found."""

    cases: tuple[CaseResult, ...]
    failure: Failure | None
    environment: Environment | None
    log: str
    seconds: float


def measure(
    submission: Submission, task: Task, reference: Path, bundle: bytes, measurer: JailClient
) -> Measured:
    """Replay and time a plan on the GPU; JudgeFault or JailUnavailable if we fail."""
    seconds = math.ceil(task.limits.measure)
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
    )
    outcome = measurer.run(request.pack((bundle,)), bounds)
    failure = failure_of(outcome, bounds, _DOING)
    if failure is not None and failure.verdict != "timeout":
        # Only our own code runs there: whatever ended it, the submission's Python did not.
        raise JudgeFault(failure.reason, outcome.output)
    answer = MeasureAnswer(failure=failure)
    if failure is None:
        try:
            answer, _ = MeasureAnswer.unpack(outcome.result)
        except AnswerRefused as error:
            raise JudgeFault("the measurer's answer does not hold", str(error)) from None
    return Measured(
        answer.cases, answer.failure, answer.environment, outcome.output, outcome.wall_s
    )
