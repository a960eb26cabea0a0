"""Turns what comes out of a jail into a verdict; nothing that an inmate does raises here."""

import signal

from kernels.contract.wire import AnswerRefused, Failure
from workers.jail import JailClient, Limits, Outcome, Status

GIB = 1 << 30
_QUICK_SHARE = 0.25
"""Of its time limit; a run that fails sooner is repeated without asking who is to blame."""


def run_submitted(
    jail: JailClient, request: bytes, limits: Limits, doing: str
) -> tuple[Outcome, Failure | None]:
    """Run submitted code, and say why there is no answer, if there is none.

    An error of the judge that comes from a process with submitted code may be forged. It is tried
    once more at once, unless that was slow; then it counts as lasting. JudgeFault, JailUnavailable.
    """
    outcome = jail.run(request, limits)
    if outcome.status is Status.ERROR and _was_quick(outcome, limits):
        outcome = jail.run(request, limits)
    if outcome.status is Status.ERROR:
        raise JudgeFault(f"{doing} failed inside the judge", outcome.error, lasting=True)
    return outcome, failure_of(outcome, limits, doing)


def _was_quick(outcome: Outcome, limits: Limits) -> bool:
    return outcome.wall_s < _QUICK_SHARE * min(limits.wall_s, limits.cpu_s)


def failure_of(outcome: Outcome, limits: Limits, doing: str) -> Failure | None:
    """Why an inmate gave no answer, if it gave none.

    `doing` is a noun phrase such as "building". Raises JudgeFault if the fault is ours.
    """
    match outcome.status:
        case Status.OK:
            return None
        case Status.TIMEOUT:
            return Failure(
                verdict="timeout", reason=f"{doing} did not end within {limits.wall_s} s"
            )
        case Status.STILL:
            return Failure(
                verdict="timeout",
                reason=f"{doing} stood still for {limits.still_s} s: look for what it waits for",
            )
        case Status.CPU:
            return Failure(
                verdict="timeout",
                reason=f"{doing} used more than {limits.cpu_s} s of processor time",
            )
        case Status.MEMORY:
            return _rejected(f"{doing} used more than {limits.memory_bytes / GIB:.0f} GiB")
        case Status.OUTPUT:
            return _rejected(f"{doing} printed more than {limits.output_bytes >> 20} MiB")
        case Status.RESULT:
            return _rejected(f"{doing} gave no readable answer")
        case Status.SIGNAL:
            return _died(f"{doing} was ended by signal {signal_name(outcome)}")
        case Status.EXIT:
            return _died(f"{doing} ended the process with exit code {outcome.exit_code}")
        case Status.ERROR:
            raise JudgeFault(f"{doing} failed inside the judge", outcome.error)


class JudgeFault(Exception):
    """The judge could not do its work; the attempt is repeated, the submission is not blamed.

    Its text is for the participant; `detail`, with our traces and paths, is for the operator.
    A `lasting` one would come again: the attempt is not repeated.
    """

    def __init__(self, reason: str, detail: str = "", *, lasting: bool = False) -> None:
        super().__init__(reason)
        self.lasting = lasting
        self.detail = _printable(detail.strip()[-4000:])


def garbled(error: AnswerRefused | ValueError, doing: str) -> Failure:
    """The failure for an answer that does not validate: only a manipulated process sends one."""
    return _rejected(f"{doing} gave an answer that does not hold: {error}"[:500])


def signal_name(outcome: Outcome) -> str:
    """Name of the signal that ended a run, such as SIGSEGV."""
    try:
        return signal.Signals(outcome.signal or 0).name
    except ValueError:
        return str(outcome.signal)


def _printable(text: str) -> str:
    """Text that may have been forged, without what would command the operator's terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _rejected(reason: str) -> Failure:
    return Failure(verdict="rejected", reason=reason)


def _died(reason: str) -> Failure:
    return Failure(verdict="build_error", reason=reason)
