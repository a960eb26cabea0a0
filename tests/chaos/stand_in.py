"""Stands in for the measurer where there is no GPU: takes its time, believes the kernels' names.

Everything around it is real: the queue, two measurers on one device, the lock, the jail.
"""

import fcntl
import os
import time
from pathlib import Path

from kernels.contract import Bundle, Case, CaseResult, Timing, Verdict
from kernels.contract.wire import MeasureAnswer, MeasureRequest
from tests.chaos.sources import WRONG

_TAKES_S = 0.1
TWO_AT_ONCE = "two plans were measured at once"


def run(request: bytes) -> bytes:
    """Answer a MeasureRequest."""
    asked, blobs = MeasureRequest.unpack(request)
    kernels = Bundle.unpack(blobs[0]).plan.kernels.values()
    wrong = any(kernel.function.startswith(WRONG) for kernel in kernels)
    reason = _alone(Path(asked.reference)) or ("by its name" if wrong else "")
    cases = tuple(_result(case, reason) for case in asked.task.cases)
    return MeasureAnswer(cases=cases).pack()


def _alone(shared: Path) -> str:
    """Hold what stands for the GPU, which every jail can lock; a reason if another holds it."""
    file = os.open(shared, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return TWO_AT_ONCE
    time.sleep(_TAKES_S)
    return ""


def _result(case: Case, reason: str) -> CaseResult:
    verdict = Verdict.WRONG_ANSWER if reason else Verdict.ACCEPTED
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
