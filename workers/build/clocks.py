"""Python's clocks as submitted code reads them: they tell nothing, and the same in every build.

What passes between two readings is compiling and recording, never a kernel. A choice by such times
would be a different one in each build.
"""

import sys
import time
from collections.abc import Callable

from workers.build.source import FILE
from workers.facade.hooks import Hooks

_TICK_NS = 1_000_000
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
NOTE = (
    "host code read a clock, which goes on by 1 ms with each reading; time candidates with "
    "triton.testing.do_bench"
)


class Clocks:
    """One time for all clocks of Python, from when they are installed."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._now = time.time_ns()

    def install(self) -> None:
        """Replace the clocks for the whole process; code of others still reads the real ones."""
        for name in _CLOCKS:
            setattr(time, name, self._seconds(getattr(time, name)))
            setattr(time, f"{name}_ns", self._nanoseconds(getattr(time, f"{name}_ns")))

    def _seconds(self, real: Callable[[], float]) -> Callable[[], float]:
        def clock() -> float:
            return self._read() / 1e9 if _asked_by_submission() else real()

        return clock

    def _nanoseconds(self, real: Callable[[], int]) -> Callable[[], int]:
        def clock() -> int:
            return self._read() if _asked_by_submission() else real()

        return clock

    def _read(self) -> int:
        self._hooks.note(NOTE)
        self._now += _TICK_NS
        return self._now


def _asked_by_submission() -> bool:
    return sys._getframe(2).f_code.co_filename == FILE
