"""Entry functions that die in every way or forge their result."""

import ctypes
import json
import os
import time
from functools import partial

from tests.jail.entries.attempt import attempt

MIB = 1 << 20


def leave(argument: bytes) -> bytes:
    """End at once with an exit code."""
    os._exit(int(argument))


def leave_politely(argument: bytes) -> bytes:
    """End by SystemExit, as sys.exit does."""
    raise SystemExit("AC")


def die(argument: bytes) -> bytes:
    """Die by a signal of one's own."""
    os.kill(os.getpid(), int(argument))
    time.sleep(1000)
    return b""


def crash(argument: bytes) -> bytes:
    """Read address zero."""
    ctypes.string_at(0)
    return b""


def recurse(argument: bytes) -> bytes:
    """Recurse without end."""
    return recurse(argument)


def _result_pipe() -> int:
    """The only descriptor above the standard ones that can be written to."""
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"")
        except OSError:
            continue
        return descriptor
    raise AssertionError("no result pipe")


def _frame(payload: bytes, kind: int = 1, length: int | None = None) -> bytes:
    return bytes([kind]) + (len(payload) if length is None else length).to_bytes(8) + payload


def forge(argument: bytes) -> bytes:
    """Write a well-formed result and leave as if all were done."""
    os.write(_result_pipe(), _frame(b"forged"))
    os._exit(0)


def forge_and_return(argument: bytes) -> bytes:
    """Write a result early, then return another."""
    os.write(_result_pipe(), _frame(b"forged"))
    return b"second"


def forge_and_fail(argument: bytes) -> bytes:
    """Write a result, then end with an error."""
    os.write(_result_pipe(), _frame(b"forged"))
    os._exit(3)


def forge_and_stay(argument: bytes) -> bytes:
    """Write a result and never end."""
    os.write(_result_pipe(), _frame(b"forged"))
    time.sleep(1000)
    return b""


def forge_garbage(argument: bytes) -> bytes:
    """Write what is no message: a wrong length, a wrong kind, too little."""
    garbage = {b"length": _frame(b"abc", length=2**63), b"kind": _frame(b"abc", kind=77)}
    os.write(_result_pipe(), garbage.get(argument, b"\x01"))
    os._exit(0)


def forge_endless(argument: bytes) -> bytes:
    """Write results without end."""
    while True:
        os.write(_result_pipe(), b"r" * MIB)


def close_all(argument: bytes) -> bytes:
    """Close every descriptor and return."""
    os.closerange(0, 256)
    return b"into nothing"


def inherit(argument: bytes) -> bytes:
    """Which descriptors are open."""
    opened = [fd for fd in range(4096) if attempt(partial(os.fstat, fd)) == "allowed"]
    return json.dumps(opened).encode()
