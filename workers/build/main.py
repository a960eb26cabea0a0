"""Entry of the build jail: a submission in, its launch plan or its failure out."""

import gc
import os
import tempfile
import time
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from kernels.contract import Bundle, CasePlan, Plan, Target, frame, limits
from kernels.contract.bundle import first_problem
from kernels.contract.wire import (
    AnswerRefused,
    BuildAnswer,
    BuildRequest,
    Failure,
    RebuildRequest,
)
from workers.build import answer, host_values, rebuild, versions
from workers.build.budget import Budget
from workers.build.failures import BuildFailed, problem
from workers.build.host_values import HostValues
from workers.build.schedule import Schedule
from workers.build.session import Session

_REQUEST: TypeAdapter[BuildRequest | RebuildRequest] = TypeAdapter(
    Annotated[BuildRequest | RebuildRequest, Field(discriminator="kind")]
)
_LEAST_KERNEL_SECONDS = 10.0
MOST_PROCESSORS = 8
"""More children than this gain nothing: cases share their kernels."""


def run(request: bytes) -> bytes:
    """Answer a BuildRequest or a RebuildRequest; AnswerRefused for others."""
    started = time.monotonic()
    # The fork server's own choice was made before this process had its scratch.
    tempfile.tempdir = None
    try:
        header, blobs = frame.unpack(request)
        message = _REQUEST.validate_json(header)
    except frame.FrameRefused as error:
        raise AnswerRefused(str(error)) from None
    except ValidationError as error:
        raise AnswerRefused(first_problem(error)) from None
    if isinstance(message, RebuildRequest):
        return rebuild.run(message, blobs, started)
    return _built(message, host_values.of(message.task, blobs), started)


def _built(message: BuildRequest, values: HostValues, started: float) -> bytes:
    """BuildAnswer; blob 0 is the packed Bundle if there is no failure."""
    try:
        bundle = build(message, Path(tempfile.mkdtemp(prefix="build-")), started, values)
        return BuildAnswer().pack((_packed(bundle),))
    except BuildFailed as error:
        return _told(error.failure)


def _told(failure: Failure) -> bytes:
    try:
        return BuildAnswer(failure=failure).pack()
    except BaseException:  # noqa: BLE001  a jailed child's main: submitted code broke what could tell it
        os._exit(1)


def build(
    request: BuildRequest, scratch: Path, started: float, values: HostValues | None = None
) -> Bundle:
    """The bundle of a submission; BuildFailed if it cannot be built.

    Changes this process for good. `started` is the time.monotonic() from which its budget counts.
    """
    gc.disable()  # a tenth of the time, in processes that live for seconds
    os.chdir(scratch)
    os.environ["TRITON_CACHE_DIR"] = str(scratch / "cache")
    session = Session(request, scratch, Budget(request.seconds, started, scratch), values or {})
    session.install()
    surroundings = session.surroundings  # submitted code can take it from the session
    try:
        return _build(session)
    except BuildFailed:
        raise
    except BaseException as error:  # submitted code may have broken ours
        cause = surroundings.blame(error)
        if cause is None:
            raise
        raise BuildFailed("build_error", cause) from None


def _build(session: Session) -> Bundle:
    request = session.request
    prepared = answer.prepare(session)
    Schedule(
        cases=len(request.task.cases),
        work=prepared.work,
        claims=session.claims,
        processors=min(len(os.sched_getaffinity(0)), MOST_PROCESSORS),
        budget=session.budget,
        kernel_seconds=kernel_seconds(request.seconds),
    ).run()
    return _bundle(session, prepared.plans())


def kernel_seconds(budget: float) -> float:
    """Processor time for which one kernel may compile before it is given up."""
    return max(_LEAST_KERNEL_SECONDS, budget / 2)


def _bundle(session: Session, cases: list[CasePlan]) -> Bundle:
    launched = {launch.kernel for case in cases for launch in case.launches()}
    kernels = {digest: session.kernels.get(digest) for digest in sorted(launched)}
    target = Target(device=session.request.device, architecture="sm_90a", triton=versions.VERSION)
    try:
        plan = Plan(target=target, kernels=kernels, cases=tuple(cases))
    except ValidationError as error:
        raise BuildFailed("rejected", problem(error)) from None
    return Bundle(plan=plan, blobs={d: session.blobs.get(d) for d in plan.blobs()})


def _packed(bundle: Bundle) -> bytes:
    packed = bundle.pack()
    text = len(bundle.plan.model_dump_json()) if len(packed) > limits.PLAN_JSON_BYTES else 0
    if len(packed) > limits.BUNDLE_BYTES or text > limits.PLAN_JSON_BYTES:
        raise BuildFailed(
            "rejected",
            f"the plan has {len(packed) >> 20} MiB, more than one may have",
            "use fewer configurations and fewer device operations",
        )
    return packed
