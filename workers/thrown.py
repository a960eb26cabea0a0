"""Exceptions that no code raised: a thread, or a signal's default handler, threw them into ours."""

import dis

_RAISED_BY_C = (StopIteration, MemoryError)
"""Without a word; whatever else is raised from C says why."""


def was_thrown(error: BaseException) -> bool:
    """Whether another thread threw it, or Python for SIGINT; False for one made to hide that."""
    if error.args or isinstance(error, _RAISED_BY_C):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    instruction = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return dis.opname[instruction] != "RAISE_VARARGS"
