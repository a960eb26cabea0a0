"""The build stage: submission in, launch plan out."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernels.contract import Bundle, PlanRefused, Submission, Task, TensorSpec, cubin, limits
from kernels.contract.limits import PATIENCE, STILL_PATIENCE
from kernels.contract.wire import AnswerRefused, BuildAnswer, BuildRequest, Failure
from workers.answers import garbled, run_submitted
from workers.jail import JailClient, Limits
from workers.reports import version

_DOING = "building"
_GRACE_S = 5
_LEEWAY = 1.25
"""The build ends itself, and says at what, before the jail ends it."""

_UNHURRIED_SHARE = 1 / 3
"""Within this share of its time a build gives up no kernel and leaves no configuration out."""


@dataclass(frozen=True)
class Built:
    """What the build stage found."""

    bundle: Bundle | None
    """The plan, checked; None if there is a failure."""
    failure: Failure | None
    log: str
    """What the submission printed."""
    seconds: float
    processor_seconds: float = 0.0
    cached: bool = False
    """Whether it was built before."""


def worth_keeping(built: Built, task: Task) -> bool:
    """Whether building again would give the same: a slow build may have left something out."""
    unhurried = _UNHURRIED_SHARE * task.limits.build
    return built.processor_seconds < unhurried and built.seconds < PATIENCE * unhurried


def build(
    submission: Submission, task: Task, jail: JailClient, values: Sequence[bytes] = ()
) -> Built:
    """Run a submission's host code in the jail; JudgeFault or JailUnavailable if we fail.

    `values` are those of the task's host-visible inputs.
    """
    seconds = math.ceil(task.limits.build)
    bounds = Limits(
        wall_s=math.ceil(task.limits.build_wall) + _GRACE_S,
        cpu_s=math.ceil(_LEEWAY * seconds) + _GRACE_S,
        still_s=STILL_PATIENCE * seconds + _GRACE_S,
        memory_bytes=8 * limits.GIB,
        processes=128,
        scratch_bytes=limits.GIB,
        result_bytes=limits.BUNDLE_BYTES,
    )
    request = BuildRequest(
        source=submission.source,
        entry=submission.entry,
        task=task,
        device=submission.device,
        seconds=seconds,
    )
    outcome, failure = run_submitted(jail, request.pack(tuple(values)), bounds, _DOING)
    bundle = None
    if failure is None:
        try:
            bundle, failure = _read(outcome.result, task, submission, values)
        except (AnswerRefused, PlanRefused) as error:
            failure = garbled(error, _DOING)
    return Built(bundle, failure, outcome.output, outcome.wall_s, outcome.cpu_s)


def _read(
    data: bytes, task: Task, submission: Submission, values: Sequence[bytes]
) -> tuple[Bundle | None, Failure | None]:
    answer, blobs = BuildAnswer.unpack(data)
    if answer.failure is not None:
        return None, answer.failure
    if len(blobs) != 1:
        raise AnswerRefused("an answer without a failure must bring one plan")
    return checked_bundle(blobs[0], task, submission, values), None


def checked_bundle(
    data: bytes, task: Task, submission: Submission, values: Sequence[bytes] = ()
) -> Bundle:
    """The plan in hostile bytes; PlanRefused unless it is whole and one for this submission."""
    bundle = Bundle.unpack(data)
    cubin.check(bundle)
    _matches(bundle, task, submission, values)
    return bundle


def _matches(bundle: Bundle, task: Task, submission: Submission, values: Sequence[bytes]) -> None:
    """PlanRefused unless the plan is for this device, these cases and these tensors."""
    plan = bundle.plan
    if plan.target.device is not submission.device:
        raise PlanRefused(f"the plan is for {plan.target.device}, not for {submission.device}")
    if plan.target.triton != version("triton"):
        raise PlanRefused(f"the plan was not made by Triton {version('triton')}")
    if [case.case for case in plan.cases] != [case.name for case in task.cases]:
        raise PlanRefused("the plan does not have the task's cases")
    shown = iter(values)
    for case, planned in zip(task.cases, plan.cases, strict=True):
        tensors = [spec for spec in task.arguments(case) if isinstance(spec, TensorSpec)]
        given = [
            (t.name, t.nbytes, _digest(next(shown)) if t.host_visible else None) for t in tensors
        ]
        inputs = [buffer for buffer in planned.buffers if buffer.role == "input"]
        if [(b.name, b.nbytes, b.values) for b in inputs] != given:
            raise PlanRefused(f"case {case.name}: the plan's inputs are not the task's")
        results = [(spec.shape, spec.dtype) for spec in task.results(case)]
        if [(view.shape, view.dtype) for view in planned.outputs] != results:
            raise PlanRefused(f"case {case.name}: the plan's outputs are not the task's")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
