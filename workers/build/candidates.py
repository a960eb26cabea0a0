"""Host code that times candidates itself: every outcome of its timing is followed.

Nothing can be timed where nothing runs. So at each timed call the process forks, and in the child
that call is the fastest of all. What host code then does differently is compared with what it does
if all calls are equally fast, and becomes a choice, like that of an autotuner.
"""

from collections.abc import Callable

from kernels.contract import CasePlan, Choice, Launch
from workers.build.actions import Recorded
from workers.build.merging import World, merge
from workers.build.recorder import Recorder
from workers.build.worlds import Worlds
from workers.facade.benchmarking import MILLISECONDS, NOTE

_FASTEST = MILLISECONDS / 2
Key = tuple[object, ...]


class Candidates:
    """The timed calls of one case."""

    def __init__(self, worlds: Worlds, recorder: Recorder) -> None:
        self._worlds = worlds
        self._recorder = recorder
        self._labels: dict[Key, str] = {}
        """What was timed so far, and what a person may call it."""
        self._timed_at: list[int] = []
        """How many steps came before each."""
        self._fastest: Key | None = None
        """In a child: what was the fastest."""

    def time(self, call: Callable[[], object]) -> float:
        """Milliseconds that a timed call is said to take; its steps are no part of the plan."""
        nested = self._recorder.branching
        with self._recorder.capture() as steps:
            call()
        key = tuple(map(_action, steps))
        alone = self._worlds.count == len(self._labels)
        if key not in self._labels and not nested and alone and self._worlds.possible:
            self._follow(key)
        elif key not in self._labels:
            self._recorder.note(NOTE)
        return _FASTEST if key == self._fastest else MILLISECONDS

    def merged(self, plan: CasePlan) -> CasePlan:
        """The plan with what the children found, and a note on it."""
        if not self._labels or self._fastest is not None:
            return plan
        found = zip(self._labels.values(), self._worlds.plans(), self._timed_at, strict=True)
        # What the module did at import and no case needs is not among the plan's steps.
        left_out = len(self._recorder.steps) - len(plan.steps)
        worlds = [World(label, other, at - left_out) for label, other, at in found if other]
        merged = merge(plan, worlds)
        chosen = merged.steps != plan.steps
        note = f"do_bench: {len(self._labels)} timed calls became a choice" if chosen else NOTE
        return merged.model_copy(update={"notes": tuple(dict.fromkeys((*plan.notes, note)))[:64]})

    def _follow(self, key: Key) -> None:
        line = self._recorder.line()
        number = len(self._labels) + 1
        self._timed_at.append(len(self._recorder.steps))
        self._labels[key] = f"candidate {number}" + ("" if line is None else f", line {line}")
        if self._worlds.branch():
            self._fastest = key


def _action(step: Recorded) -> object:
    """What a step does, whatever memory it works in."""
    if isinstance(step, Launch):
        return step.kernel, step.grid
    return (step.id, step.function) if isinstance(step, Choice) else step.op
