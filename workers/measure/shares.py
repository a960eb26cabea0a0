"""What part of a case's time each of its steps takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kernels.contract import StepShare

if TYPE_CHECKING:  # these need the driver's bindings, adding up does not
    from workers.measure.clock import Clock
    from workers.measure.replay import Picks, Replay

_PASSES = 2
_MOST_STEPS = 256
"""Beyond it every step would be shorter than what telling them apart costs."""


def measure(
    replay: Replay, picks: Picks, clock: Clock, prepare: Callable[[], None]
) -> tuple[StepShare, ...]:
    """Time every step by itself, in order; steps of one name are added up.

    `prepare` puts inputs in place. Empty for a plan of too many steps.
    """
    steps = list(replay.chosen(picks))
    if len(steps) > _MOST_STEPS:
        return ()
    if len(steps) == 1:
        return (StepShare(step=steps[0].name, share=1.0),)
    passes = []
    for _ in range(_PASSES):
        prepare()
        passes.append([clock.time(step.run) for step in steps])
    best = [min(times) for times in zip(*passes, strict=True)]
    return summed([(step.name, time) for step, time in zip(steps, best, strict=True)])


def summed(times: list[tuple[str, float]]) -> tuple[StepShare, ...]:
    """Shares of the whole by name, in the order in which the names first come."""
    totals: dict[str, float] = {}
    for name, time in times:
        totals[name] = totals.get(name, 0.0) + time
    whole = sum(totals.values())
    return tuple(
        StepShare(step=name, share=min(total / whole, 1.0)) for name, total in totals.items()
    )
