"""Runs what changes torch for good in a forked child, so that other tests see torch untouched."""

import os
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def forked(function: Callable[[], Result]) -> Result:
    """What the function returns in a child; AssertionError with its traceback if it raises."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(function, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    _, status = os.waitpid(child, 0)
    assert data, f"the child ended with status {status} before it could answer"
    ok, value = pickle.loads(data)
    if not ok:
        raise AssertionError(f"in the forked child:\n{value}")
    result: Result = value
    return result


def _answer(function: Callable[[], object], writer: int) -> None:
    # OpenMP's threads do not survive a fork: whoever had used them would wait for ever. The fork
    # servers have one thread for the same reason.
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    try:
        answer: tuple[bool, object] = (True, function())
    except BaseException:  # noqa: BLE001  whatever went wrong must reach the test
        answer = (False, traceback.format_exc())
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(pickle.dumps(answer))
    os._exit(0)
