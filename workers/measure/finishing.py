"""Arithmetic by torch on partial results, where a task allows it, must stay the smaller part."""

from collections.abc import Callable

from kernels.contract import Verdict
from workers.measure.clock import Clock
from workers.measure.correctness import Finding
from workers.measure.estimate import median
from workers.measure.replay import Picks, Replay, capture

MOST = 0.5
"""Largest share of a case's time: beside a decoy kernel torch's part is nearly all."""

_PASSES = 5


def judge(
    replay: Replay, picks: Picks, clock: Clock, prepare: Callable[[], None], whole: float
) -> Finding | None:
    """Time torch's arithmetic as one graph against the microseconds of the whole plan.

    `prepare` puts inputs in place.
    """
    steps = [step for step in replay.chosen(picks) if step.finishing]
    if not steps:
        return None

    def work() -> None:
        for step in steps:
            step.run()

    graph = capture(work)
    times = []
    for _ in range(_PASSES):
        prepare()
        times.append(clock.time(graph.replay))
    share = median(times) / whole
    if share <= MOST:
        return None
    names = ", ".join(sorted({step.name for step in steps}))
    return Finding(
        Verdict.REJECTED,
        f"finishing by torch ({names}) takes {share:.0%} of the time, allowed is {MOST:.0%}: "
        "do the work in Triton kernels",
    )
