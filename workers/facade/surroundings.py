"""Whose doing it is when the judge's own code fails beside submitted code.

The two share a process, and submitted code can break ours. Taken for a fault of the judge, such a
submission would be tried again and again.
"""

import resource
import signal
import sys
import threading
from collections.abc import Iterator
from types import TracebackType

from workers.thrown import error_classes, was_thrown

_PACKAGES = ("workers.", "kernels.")
_MODULES = ("builtins", "json", "os", "signal", "threading", "time")
_AFTER_FORK = frozenset(
    ("threading", f"_{name}")
    for name in ("active", "active_limbo_lock", "dangling", "main_thread", "shutdown_locks",
                 "shutdown_locks_lock")
)  # fmt: skip
"""What Python itself makes anew in a forked process."""
_LIMITS = (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)


class Surroundings:
    """What the judge's code relies on, as it is now: before submitted code runs."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._modules = {
            name: dict(vars(module))
            for name, module in list(sys.modules.items())
            if name in _MODULES or name.startswith(_PACKAGES)
        }
        self._process = dict(_process())
        self._errors = frozenset(error_classes())

    def blame(self, error: BaseException) -> str | None:
        """One sentence if an error of our code is the submission's doing, None if it is ours.

        `error` left code of ours; what submitted code raised to us is not asked about here.
        """
        try:
            return self._blame(error)
        except Exception:  # noqa: BLE001  a jailed child's main: submitted code reaches our objects
            return "the submission broke what would tell whose fault an error is"

    def _blame(self, error: BaseException) -> str | None:
        if _passes_through(error.__traceback__, self._file):
            return "code of the submission ran inside the judge's own and failed there"
        if was_thrown(error, self._errors):
            return f"the submission threw {type(error).__name__} into the judge's own code"
        if isinstance(error, OSError):
            # The jail was fresh, with all that an honest submission needs.
            what = error.strerror or type(error).__name__
            return f"the judge's code was left without files, processes or descriptors: {what}"
        changed = next(self._changed(), None)
        return None if changed is None else f"the submission changed {changed}, which it may not"

    def _changed(self) -> Iterator[str]:
        for name, before in self._modules.items():
            now = vars(sys.modules[name]) if name in sys.modules else {}
            for key, value in before.items():
                if now.get(key, self) is not value and (name, key) not in _AFTER_FORK:
                    yield f"{name}.{key}"
        for name, value in _process():
            if self._process[name] != value:
                yield name


def _process() -> Iterator[tuple[str, object]]:
    yield "the signal handlers", [signal.getsignal(n) for n in sorted(signal.valid_signals())]
    yield "the timers", signal.getitimer(signal.ITIMER_REAL) != (0, 0)
    yield "the process's limits", [resource.getrlimit(kind) for kind in _LIMITS]
    yield "the recursion limit", sys.getrecursionlimit()
    yield "the trace function", (sys.gettrace(), sys.getprofile())
    yield "the number of threads", threading.active_count()


def _passes_through(trace: TracebackType | None, file: str) -> bool:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            return True
        trace = trace.tb_next
    return False
