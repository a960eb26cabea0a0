"""What was accepted and what came of it, as clients saw it."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kernels.contract import Verdict
from tests.chaos.sources import Work


@dataclass
class Entry:
    """One submission that the service accepted."""

    name: str
    work: Work
    accepted_at: float
    cancel_asked: bool = False
    detail: dict[str, Any] | None = None
    """As it was first seen finished."""
    finished_at: float | None = None

    @property
    def allowed(self) -> frozenset[Verdict]:
        """Verdicts that are right for it."""
        cancelled = {Verdict.CANCELLED} if self.cancel_asked else set()
        return frozenset({self.work.expected} | cancelled)


@dataclass
class Ledger:
    """All entries; safe to share between threads."""

    entries: list[Entry] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def accept(self, name: str, work: Work) -> Entry:
        """Note a submission that was answered with an id."""
        entry = Entry(name, work, time.monotonic())
        with self._lock:
            self.entries.append(entry)
        return entry

    def finish(self, entry: Entry, detail: dict[str, Any]) -> None:
        """Note its end as it was first seen."""
        with self._lock:
            entry.detail, entry.finished_at = detail, time.monotonic()

    def in_flight(self) -> list[Entry]:
        """What was accepted and has not been seen finished."""
        with self._lock:
            return [entry for entry in self.entries if entry.finished_at is None]

    def named(self, name: str) -> Entry | None:
        """The entry of a submission."""
        with self._lock:
            return next((entry for entry in self.entries if entry.name == name), None)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
