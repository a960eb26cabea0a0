"""How much a build may use: processor time, so that a busy machine changes no verdict.

By the clock it may take several times as long, unless it stands still.
"""

import mmap
import os
import resource
import time
from pathlib import Path

from kernels.contract.limits import PATIENCE, STILL_PATIENCE

_SLOTS = 64
_SLOT_BYTES = 8
OPTIONAL_SHARE = 0.6
"""Of the budget, after which only what is needed is done."""
_STILL_SHARE = 0.02
"""Of one processor, below which a build stands still. An assembler is seen only when it ends."""


class Budget:
    """Processor time of all processes of a build, counted in memory that they share.

    Each tells what it used itself, with its children that have ended; the process that watches
    them adds what it sees from outside.
    """

    def __init__(self, seconds: float, started: float, folder: Path) -> None:
        self._seconds = seconds
        self._started = self._moved_at = started
        """Of time.monotonic()."""
        self._moved_used = 0.0
        self._used = _shared(folder / "budget")
        self._tells = True
        self.enter(0)

    def enter(self, slot: int) -> None:
        """Let this process, the first or a fork, tell its use in a slot."""
        self._slot, self._tells = slot, True
        self._process, self._before = os.getpid(), 0.0

    def watch(self) -> None:
        """Let this process tell nothing from now on: it only waits for others."""
        self._tells = False

    def observe(self, slot: int, seconds: float) -> None:
        """The process of a slot used so much at least."""
        self._used[slot] = max(self._used[slot], seconds)

    def close(self, slot: int, seconds: float) -> None:
        """The process of a slot has ended, and used so much."""
        self._used[slot] = 0.0
        self._used[0] += seconds

    @property
    def used(self) -> float:
        """Seconds of all processes, this one's up to now."""
        if os.getpid() != self._process:  # a fork in the slot of its parent, which waits
            self._process, self._before = os.getpid(), self._used[self._slot]
        if self._tells:
            self.observe(self._slot, self._before + _own_use())
        return sum(self._used)

    @property
    def late(self) -> bool:
        """Whether only what is needed should be done."""
        passed = (time.monotonic() - self._started) / PATIENCE
        return max(self.used, passed) > OPTIONAL_SHARE * self._seconds

    def exceeded(self) -> str | None:
        """What ran out, if something did; to be asked again and again."""
        now, used, seconds = time.monotonic(), self.used, self._seconds
        if used > seconds:
            return f"{seconds:.3g} s of processor time"
        if now - self._started > PATIENCE * seconds:
            return f"{PATIENCE * seconds:.3g} s"
        if used - self._moved_used > _STILL_SHARE * (now - self._moved_at):
            self._moved_at, self._moved_used = now, used
        elif now - self._moved_at > STILL_PATIENCE * seconds:
            return f"{STILL_PATIENCE * seconds:.3g} s without work"
        return None


def _shared(path: Path) -> "memoryview[float]":
    # A file: the jail lets nobody have shared memory that no file limit counts.
    path.write_bytes(bytes(_SLOTS * _SLOT_BYTES))
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("d")


def processor_time(pid: int) -> float:
    """Seconds that a living process used, without its children; 0 if there is none."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the clock that clock_getcpuclockid(3) names
    except OSError:
        return 0.0


def _own_use() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, kinds))
