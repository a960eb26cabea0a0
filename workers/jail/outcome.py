"""What became of one run."""

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Why a run ended; the warden decides it, never the jailed code."""

    OK = "ok"
    """The entry function returned; `result` is what it returned, or what was forged as that."""
    ERROR = "error"
    """The entry function raised; `error` has the traceback."""
    TIMEOUT = "timeout"
    """Wall time ran out."""
    CPU = "cpu"
    """Processor time ran out."""
    STILL = "still"
    """It used next to no processor for too long."""
    MEMORY = "memory"
    """Too much memory, found by the warden or met as MemoryError."""
    OUTPUT = "output"
    """More standard output and error than allowed."""
    RESULT = "result"
    """A result that is too large or not one well-formed message."""
    SIGNAL = "signal"
    """The process died by `signal`."""
    EXIT = "exit"
    """The process left with `exit_code` and no result."""


@dataclass(frozen=True)
class Outcome:
    """Everything the warden knows; `result`, `output` and `error` are untrusted data."""

    status: Status
    result: bytes = b""
    """At most Limits.result_bytes; empty unless the status is OK."""
    error: str = ""
    """At most 64 KiB; empty unless the status is ERROR or MEMORY."""
    output: str = ""
    """Head and tail of standard output and error, at most 64 KiB and a line on what is left out."""
    signal: int | None = None
    exit_code: int | None = None
    wall_s: float = 0.0
    cpu_s: float = 0.0
    """Of all processes of the run."""
    peak_memory_bytes: int = 0
    """Resident, with what the server preloaded."""


class JailUnavailable(Exception):
    """The jail itself failed: the judge's fault, to be tried again, never the submission's."""
