"""What can go wrong while a submission runs, and how it is told."""

import traceback
from types import TracebackType
from typing import Literal

from kernels.contract import Diagnostic
from kernels.contract.wire import Failure
from workers.facade import Refusal

_REASON = 500
_MESSAGE = 16_384
_MOST_WRAPPINGS = 64


class Fault(Exception):
    """What our own code found wrong; its message is the reason that is shown."""


class NoEntry(Fault):
    """The source does not define the function that the task asks for."""


class OutOfBounds(Fault):
    """A kernel wrote outside its tensors."""


class IllegalAddress(Fault):
    """A kernel used an address that is far from any tensor."""


class Unsupported(Fault):
    """The interpreter cannot run this: the case is left out, and not the submission's fault."""


class InputChanged(Fault):
    """A submission wrote to an input that it must leave alone."""


class WrongResult(Fault):
    """The entry function returned something else than the task asks for."""


def failure_of(error: BaseException, path: str) -> Failure:
    """The failure that an exception of the submission in a file amounts to."""
    try:
        return _explained(error, path)
    except BaseException:  # noqa: BLE001  it is the submission's own object, whose methods may raise
        reason = "the code raised an exception that cannot be shown"
        return Failure(verdict="runtime_error", reason=reason)


def _explained(error: BaseException, path: str) -> Failure:
    cause = innermost(error)
    line = line_in(cause.__traceback__, path) or line_in(error.__traceback__, path)
    remedy = cause.remedy if isinstance(cause, Refusal) else None
    diagnostic = Diagnostic(message=shown(cause)[:_MESSAGE], line=line, remedy=remedy)
    reason = shown(cause).replace("\n", " ")[:_REASON]
    return Failure(verdict=_verdict(cause), reason=reason, diagnostics=(diagnostic,))


def innermost(error: BaseException) -> BaseException:
    """The exception that the interpreter wrapped, however often."""
    for _ in range(_MOST_WRAPPINGS):
        if error.__cause__ is None:
            break
        error = error.__cause__
    return error


def line_in(trace: TracebackType | None, path: str) -> int | None:
    """The innermost line of a file that a traceback passes through."""
    line = None
    for frame, number in traceback.walk_tb(trace):
        if frame.f_code.co_filename == path:
            line = number
    return line


def shown(cause: BaseException) -> str:
    """What an exception says, as a report can hold it."""
    if isinstance(cause, Refusal):
        text = cause.reason
    elif isinstance(cause, Fault):
        text = str(cause)
    else:
        text = "".join(traceback.format_exception_only(cause)).strip()
    # Submitted text may hold half a character, which no report can.
    return text.encode("utf-8", "replace").decode()


_Verdict = Literal["rejected", "build_error", "memory_violation", "wrong_answer", "runtime_error"]


def _verdict(cause: BaseException) -> _Verdict:
    match cause:
        case Refusal():
            return "rejected"
        case OutOfBounds():
            return "memory_violation"
        case InputChanged():
            return "wrong_answer"
        case SyntaxError() | NoEntry():
            return "build_error"
        case _:
            return "runtime_error"
