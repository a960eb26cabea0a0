"""Exceptions that no code raised: a thread, or a signal's default handler, threw them into ours."""

import dis
from queue import Empty

_NOT_FROM_PYTHON = (StopIteration, MemoryError, Empty)
"""Raised by compiled code, without arguments; whatever else is raised there has some."""
_PYDANTIC = "pydantic_core._pydantic_core"
"""Its errors have none either, and no thread can throw them: they cannot be made from Python."""


def was_thrown(error: BaseException) -> bool:
    """Whether another thread threw it, or Python for SIGINT; False for one made to hide that."""
    compiled = isinstance(error, _NOT_FROM_PYTHON) or type(error).__module__ == _PYDANTIC
    if error.args or compiled:
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    instruction = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return dis.opname[instruction] != "RAISE_VARARGS"
