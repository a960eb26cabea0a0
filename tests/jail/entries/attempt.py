"""Trying what should be refused, and saying what came of it."""

import ctypes
import errno
import json
from collections.abc import Callable

_libc = ctypes.CDLL(None, use_errno=True)


def attempt(call: Callable[[], object]) -> str:
    """What came of `call`: "allowed", or the name of the error."""
    try:
        call()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, repr(error))
    return "allowed"


def attempts(calls: dict[str, Callable[[], object]]) -> bytes:
    """What came of each call, as a JSON object."""
    return json.dumps({name: attempt(call) for name, call in calls.items()}).encode()


def system_call(number: int, *arguments: int) -> None:
    """Make a system call without the help of a library; OSError if it fails."""
    ctypes.set_errno(0)
    if _libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in arguments)) < 0:
        raise OSError(ctypes.get_errno(), "system call")
