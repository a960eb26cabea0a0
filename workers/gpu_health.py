"""Whether a GPU can be trusted: asked when its worker starts and after each suspicious end.

A GPU that fails twice is quarantined: a file beside the fork servers' sockets says why, its worker
ends, and none is started in its place. The next start of the workers asks again.
"""

import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from kernels.contract import Verdict, limits
from kernels.contract.wire import AnswerRefused, ProbeAnswer, ProbeRequest
from workers.answers import JudgeFault, failure_of
from workers.jail import JailClient, JailUnavailable, Limits
from workers.measuring import Measured
from workers.settings import Settings

_TRIES = 2
_BETWEEN_S = 2.0
_LIMITS = Limits(
    wall_s=30, cpu_s=60, memory_bytes=32 * limits.GIB, processes=512, result_bytes=limits.MIB
)
_SUSPICIOUS = (Verdict.TIMEOUT, Verdict.RUNTIME_ERROR)
_log = logging.getLogger(__name__)


class OutOfService(Exception):
    """This worker must not measure: the job is for another, or for later."""


def note_of(settings: Settings, gpu: str) -> Path:
    """The file that exists while a GPU is in quarantine, and says why; by its server's name."""
    return settings.runtime_dir / f"{gpu}.sick"


def problem(measurer: JailClient) -> str:
    """What is wrong with a GPU, in a sentence, if it is so twice; '' for a healthy one."""
    found = _ask(measurer)
    for _ in range(_TRIES - 1):
        if not found:
            break
        _log.warning("%s; asking again", found)
        time.sleep(_BETWEEN_S)
        found = _ask(measurer)
    return found[:500]


def admit(note: Path, measurer: JailClient) -> bool:
    """Ask a GPU whose worker starts, whatever was noted before; False puts it in quarantine."""
    note.unlink(missing_ok=True)
    found = problem(measurer)
    if found:
        quarantine(note, found)
    return not found


def quarantine(note: Path, reason: str) -> None:
    """Take a GPU out of service until the workers are started again."""
    note.write_text(reason)
    _log.error("%s is in quarantine: %s", note.stem, reason)


def end_worker() -> None:
    """Let the worker of this work horse take no further job."""
    os.kill(os.getppid(), signal.SIGTERM)


def watched(
    measure: Callable[[], Measured],
    measurer: JailClient,
    note: Path,
    leave: Callable[[], None] = end_worker,
) -> Measured:
    """Measure; if that ends in a suspicious way, ask whether it was the GPU: then JudgeFault.

    OutOfService if it is in quarantine already.
    """
    if note.exists():
        leave()
        raise OutOfService(note.read_text())
    try:
        measured = measure()
    except (JudgeFault, JailUnavailable):
        _examine(measurer, note, leave)
        raise
    if measured.failure is not None or any(c.verdict in _SUSPICIOUS for c in measured.cases):
        _examine(measurer, note, leave)
    return measured


def _examine(measurer: JailClient, note: Path, leave: Callable[[], None]) -> None:
    found = problem(measurer)
    if found:
        quarantine(note, found)
        leave()
        raise JudgeFault("the GPU of this worker is not healthy", found)


def _ask(measurer: JailClient) -> str:
    try:
        outcome = measurer.run(ProbeRequest().pack(), _LIMITS)
        failure = failure_of(outcome, _LIMITS, "the test of the GPU")
        if failure is not None:
            return failure.reason
        return ProbeAnswer.unpack(outcome.result)[0].problem
    except (JudgeFault, JailUnavailable, AnswerRefused) as error:
        return f"the GPU cannot be tested: {error}"
