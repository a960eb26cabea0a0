"""Exceptions that no code raised: a thread, or a signal's default handler, threw them into ours."""

import dis
from collections.abc import Collection, Iterator
from queue import Empty

_NOT_FROM_PYTHON = (StopIteration, MemoryError, Empty)
"""Raised by compiled code, without arguments; whatever else is raised there has some."""
_NEXT = {"next", "__next__"}
"""Without these names no call of ours lets a StopIteration out."""
_NEVER_RAISE = ("RESUME", "JUMP_BACKWARD")
"""Instructions that only look whether something was thrown."""
_PYDANTIC = "pydantic_core._pydantic_core"
"""Its errors have none either, and no thread can throw them: they cannot be made from Python."""


def error_classes(above: type[BaseException] = BaseException) -> Iterator[type[BaseException]]:
    """All classes of exceptions that there are now."""
    yield above
    for below in above.__subclasses__():
        yield from error_classes(below)


def was_thrown(error: BaseException, known: Collection[type[BaseException]] | None = None) -> bool:
    """Whether another thread threw it, or Python for SIGINT; False for one made to hide that.

    `known` are the classes that compiled code may raise, if that is known.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code
    instruction = dis.opname[code.co_code[trace.tb_lasti]]
    if instruction in _NEVER_RAISE:
        return True
    if instruction == "RAISE_VARARGS":
        return False
    if type(error) is StopIteration and _NEXT.isdisjoint(code.co_names):
        return True
    if known is not None and type(error) not in known:
        return True
    compiled = type(error) in _NOT_FROM_PYTHON or type(error).__module__ == _PYDANTIC
    return not (error.args or compiled)
