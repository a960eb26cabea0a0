"""Decide autotune choices: every configuration is timed here, where nobody can bend the clock."""

import math
from collections.abc import Callable

from torch import Tensor

from workers.measure.clock import Clock
from workers.measure.contender import Contender
from workers.measure.estimate import median, relative, rounds_for, survivors
from workers.measure.faults import LaunchRefused
from workers.measure.replay import (
    BoundAlternative,
    BoundChoice,
    Picks,
    Replay,
    Step,
    capture,
    run_to_end,
)

_HEATS = ((3, 1.15, 0.5), (8, 1.04, 0.3), (24, 1.01, 0.2), (120, math.inf, 0.1))
"""Rounds, by what factor of the best an alternative may be slower to stay in the race, and seconds
that the rounds may take unless two take longer: three rounds tell a seventh apart, eight a
thirtieth, and the last are for those within a hundredth."""


_BETWEEN = 2e-4
"""Seconds of one turn besides the kernel's own time."""


def decide(replay: Replay, clock: Clock, thorough: bool) -> dict[int, int]:
    """The fastest alternative of every choice, by id; all inputs must lie in place.

    Runs the steps before a choice so that its alternatives see what they would see. Unless it is
    to be thorough, a few rounds decide.
    LaunchRefused if none of a choice's alternatives can run, KernelFailed if one breaks the GPU.
    """
    picks: dict[int, int] = {}
    for step in replay.steps:
        if isinstance(step, Step):
            run_to_end(step)
            continue
        if step.id not in picks:
            picks[step.id] = _fastest(step, clock, thorough)
        for action in step.alternatives[picks[step.id]].steps:
            run_to_end(action)
    return picks


def configs(replay: Replay, picks: Picks) -> dict[str, str]:
    """The configurations taken, by tuned function; numbered where one was tuned several times."""
    found: dict[str, str] = {}
    seen: set[int] = set()
    for step in replay.steps:
        if isinstance(step, Step) or step.id in seen:
            continue
        seen.add(step.id)
        name, number = step.function, 2
        while name in found:
            name, number = f"{step.function} ({number})", number + 1
        found[name] = step.alternatives[picks.get(step.id, 0)].config
    return found


def _fastest(choice: BoundChoice, clock: Clock, thorough: bool) -> int:
    put_back = _restorer(choice)
    runnable = _runnable(choice, put_back)
    if len(runnable) > 1:
        runnable = _race(choice, runnable, put_back, clock, thorough)
    put_back()
    return runnable[0]


def _runnable(choice: BoundChoice, put_back: Callable[[], None]) -> list[int]:
    """Indexes of the alternatives that the hardware can start."""
    found, refusal = [], ""
    for index, alternative in enumerate(choice.alternatives):
        if alternative.refusal:
            refusal = alternative.refusal
            continue
        put_back()
        try:
            for step in alternative.steps:
                run_to_end(step)
        except LaunchRefused as error:
            refusal = str(error)
        else:
            found.append(index)
    if not found:
        raise LaunchRefused(f"no configuration of {choice.function} can run: {refusal}"[:500])
    return found


def _race(
    choice: BoundChoice,
    runnable: list[int],
    put_back: Callable[[], None],
    clock: Clock,
    thorough: bool,
) -> list[int]:
    """The same indexes, fastest first; those far behind left out."""

    def contender(index: int) -> Contender:
        alternative = choice.alternatives[index]

        def work() -> None:
            _run(alternative)

        # Making graphs of a test's small kernels would take longer than racing them.
        replay = capture(work).replay if thorough else work
        return Contender(str(index), replay, prepare=lambda _: put_back())

    contenders = {index: contender(index) for index in runnable}
    left, each = runnable, 0.0
    for rounds, margin, seconds in _HEATS if thorough else _HEATS[:1]:
        if len(left) == 1:
            break
        racing = [contenders[index] for index in left]
        times = clock.race(racing, rounds_for(each, seconds, (2, rounds), seconds)).times
        order = survivors(relative([times[str(index)] for index in left]), margin)
        left = [left[place] for place in order]
        each = sum(1e-6 * median(times[str(index)]) + _BETWEEN for index in left)
    return left


def _run(alternative: BoundAlternative) -> None:
    for step in alternative.steps:
        step.run()


def _restorer(choice: BoundChoice) -> Callable[[], None]:
    """Puts the tensors that a trial changes back to what they were."""
    saved: list[tuple[Tensor, Tensor]] = [(tensor, tensor.clone()) for tensor in choice.restore]

    def put_back() -> None:
        for tensor in choice.reset:
            tensor.zero_()
        for tensor, copy in saved:
            tensor.copy_(copy)

    return put_back
