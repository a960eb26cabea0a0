"""What takes turns in a race, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass, field


def _nothing(_: int) -> None:
    """Nothing to do before or after a replay."""


@dataclass(frozen=True)
class Contender:
    """Something to time."""

    name: str
    replay: Callable[[], None]
    prepare: Callable[[int], None] = _nothing
    """Called with the round before each replay, off the clock."""
    finish: Callable[[int], None] = _nothing
    """Called with the round after each replay, off the clock."""
    every: int = 1
    """It takes its turn in each so-manieth round."""


@dataclass
class Race:
    """Microseconds of each contender, round by round."""

    times: dict[str, list[float]] = field(default_factory=dict)

    def extend(self, later: "Race") -> None:
        """Add rounds of the same contenders that came later."""
        for name, times in later.times.items():
            self.times.setdefault(name, []).extend(times)
