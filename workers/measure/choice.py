"""Decide autotune choices: every configuration is timed here, where nobody can bend the clock."""

from collections.abc import Callable

from torch import Tensor

from workers.measure.clock import Clock, Contender
from workers.measure.estimate import relative, rounds_for, survivors
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

_FIRST_ROUNDS = 3
_FINAL_ROUNDS = 40
_MARGIN = 1.15
"""Alternatives slower than the best by more leave after the first rounds."""

_BUDGET = 0.25
"""Seconds that the final rounds of one choice should take."""

_LIMIT = 2.0
"""Seconds that they may take at most."""


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
        graph = capture(lambda: _run(choice.alternatives[index]))
        return Contender(str(index), graph.replay, prepare=lambda _: put_back())

    contenders = {index: contender(index) for index in runnable}
    first = clock.race(list(contenders.values()), _FIRST_ROUNDS).times
    kept = survivors(relative([first[str(index)] for index in runnable]), _MARGIN)
    finalists = [runnable[place] for place in kept]
    if len(finalists) == 1 or not thorough:
        return finalists
    racing = [contenders[index] for index in finalists]
    bounds = (_FIRST_ROUNDS, _FINAL_ROUNDS)
    rounds = rounds_for(clock.warm_up(racing), _BUDGET, bounds, _LIMIT)
    final = clock.race(racing, rounds).times
    times = relative([final[str(index)] for index in finalists])
    return [finalists[place] for place in survivors(times, float("inf"))]


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
