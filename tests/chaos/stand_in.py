"""Stands in for the measurer where there is no GPU: takes its time, believes the kernels' names.

Everything around it is real: the queue, two measurers on one device, the lock, the jail.
"""

import fcntl
import os
import time
from pathlib import Path

from kernels.contract import Bundle, Case, CaseResult, Timing, Verdict
from kernels.contract.wire import (
    AnswerRefused,
    MeasureAnswer,
    MeasureRequest,
    ProbeAnswer,
    ProbeRequest,
)
from tests.chaos.sources import CRASHES, WRONG

GPU = Path(os.environ.get("STAND_IN_GPU", "/"))
"""A folder that stands for the GPU: a file in it makes it sick."""
SICK = "the stand-in is sick"
_TAKES_S = 0.1
TWO_AT_ONCE = "two plans were measured at once"


def run(request: bytes) -> bytes:
    """Answer a MeasureRequest or a ProbeRequest; AnswerRefused for others."""
    try:
        ProbeRequest.unpack(request)
        return ProbeAnswer(problem=SICK if (GPU / SICK).exists() else "").pack()
    except AnswerRefused:
        return _measured(*MeasureRequest.unpack(request)).pack()


def _measured(asked: MeasureRequest, blobs: list[bytes]) -> MeasureAnswer:
    names = {kernel.function for kernel in Bundle.unpack(blobs[0]).plan.kernels.values()}
    reason = _alone(Path(asked.reference)) or ("by its name" if names & {WRONG, CRASHES} else "")
    verdict = Verdict.RUNTIME_ERROR if CRASHES in names else Verdict.WRONG_ANSWER
    return MeasureAnswer(cases=tuple(_result(case, verdict, reason) for case in asked.task.cases))


def _alone(shared: Path) -> str:
    """Hold what stands for the GPU, which every jail can lock; a reason if another holds it."""
    file = os.open(shared, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return TWO_AT_ONCE
    time.sleep(_TAKES_S)
    return ""


def _result(case: Case, wrong: Verdict, reason: str) -> CaseResult:
    verdict = wrong if reason else Verdict.ACCEPTED
    timing = None if reason or case.kind == "test" else _TIMING
    return CaseResult(case=case.name, kind=case.kind, verdict=verdict, reason=reason, timing=timing)


_TIMING = Timing(
    microseconds=10.0,
    low=9.9,
    high=10.1,
    samples=(10.0,),
    flops_per_second=1e9,
    bytes_per_second=1e9,
    floor_microseconds=1.0,
    roofline=0.1,
    bound="memory",
)
