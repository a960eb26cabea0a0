"""Host code that times candidates itself: every outcome of its timing is followed.

Nothing can be timed where nothing runs. So at each timed call the process forks, and in the child
that call is the fastest of all. What host code then does differently is compared with what it does
if all calls are equally fast, and becomes a choice, like that of an autotuner.

What a timed call does itself is no part of the plan, unless something later lives on it.
"""

from collections.abc import Callable, Iterator, Sequence

from kernels.contract import CasePlan, Choice, Launch
from workers.build.actions import Recorded, actions, touched, written
from workers.build.kernels import KernelTable
from workers.build.merging import World, merge
from workers.build.recorder import Recorder
from workers.build.worlds import Worlds
from workers.facade.benchmarking import MILLISECONDS, NOTE

_FASTEST = MILLISECONDS / 2
KEPT = "do_bench: what a timed call wrote is used later, so the plan has that call once"
Key = tuple[object, ...]


class Candidates:
    """The timed calls of one case."""

    def __init__(self, worlds: Worlds, recorder: Recorder, kernels: KernelTable) -> None:
        self._worlds = worlds
        self._recorder = recorder
        self._kernels = kernels
        self._calls: dict[Key, tuple[int, list[Recorded]]] = {}
        """Steps of each timed call, and how many came before it."""
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
        if not nested and not self._recorder.importing:
            self._calls.setdefault(key, (len(self._recorder.steps), list(steps)))
        alone = self._worlds.count == len(self._labels)
        if key not in self._labels and not nested and alone and self._worlds.possible:
            self._follow(key)
        elif key not in self._labels:
            self._recorder.note(NOTE)
        return _FASTEST if key == self._fastest else MILLISECONDS

    def keep_effects(self, results: set[int]) -> None:
        """Let those timed calls happen once that write what nothing else does, and is used."""
        writers: dict[int, set[str]] = {}
        for _, steps in self._calls.values():
            for index, name in self._writers(steps):
                writers.setdefault(index, set()).add(name)
        for at, steps in reversed(self._calls.values()):
            before, after = self._recorder.steps[:at], self._recorder.steps[at:]
            launched = {i for i, _ in self._writers(before, launches=True)}
            used = results.union(*map(touched, after)) - launched
            again = set(self._writers(after))
            lost = {i for i, _ in self._writers(steps)} & used - self._inputs()
            if any(not any((i, name) in again for name in writers[i]) for i in lost):
                self._recorder.steps[at:at] = steps
                self._timed_at = [a + len(steps) * (a > at) for a in self._timed_at]
                self._recorder.note(KEPT)

    def _writers(
        self, steps: Sequence[Recorded], launches: bool = False
    ) -> Iterator[tuple[int, str]]:
        """Buffers, and what may write them: a kernel by its name."""
        for action in actions(steps):
            if isinstance(action, Launch):
                name = self._kernels.get(action.kernel).function
            elif launches:
                continue
            else:
                name = action.op
            yield from ((index, name) for index in written(action))

    def _inputs(self) -> set[int]:
        return {a.index for a in self._recorder.memory.allocations if a.role != "temporary"}

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
