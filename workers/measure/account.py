"""What the seconds of a judging go to."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from kernels.contract import GpuSeconds

Part = Literal["load", "correctness", "choices", "timing", "overhead"]


class Account:
    """Adds up seconds by part. What is inside another part counts for the inner one alone."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Start now; what belongs to no part is overhead."""
        self._now = now
        self._seconds: dict[Part, float] = {}
        self._open: list[Part] = ["overhead"]
        self._since = now()

    @contextmanager
    def part(self, name: Part) -> Iterator[None]:
        """Count what happens inside for a part; work on the GPU must have ended at its end."""
        self._settle()
        self._open.append(name)
        try:
            yield
        finally:
            self._settle()
            self._open.pop()

    def sum_up(self) -> GpuSeconds:
        """All seconds until now."""
        self._settle()
        return GpuSeconds.of(**self._seconds)

    def _settle(self) -> None:
        now = self._now()
        name = self._open[-1]
        self._seconds[name] = self._seconds.get(name, 0.0) + now - self._since
        self._since = now
