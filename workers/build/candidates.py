"""Host code that times candidates itself: every outcome of its timing is followed.

Nothing can be timed where nothing runs. So at each timed call the process forks, and in the child
that call is the fastest of all. What host code then does differently is compared with what it does
if all calls are equally fast, and becomes a choice, like that of an autotuner.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from kernels.contract import CasePlan, Choice, Launch, limits
from workers.build.compilation import Compiler
from workers.build.merging import World, merge
from workers.build.recorder import Recorded, Recorder
from workers.build.schedule import flush, silence
from workers.facade.benchmarking import MILLISECONDS, NOTE

_FASTEST = MILLISECONDS / 2
_POLL_SECONDS = 0.002
Key = tuple[object, ...]


class Candidates:
    """The timed calls of one case."""

    def __init__(self, folder: Path, recorder: Recorder, compiler: Compiler) -> None:
        self._folder = folder
        self._recorder = recorder
        self._compiler = compiler
        self._exploring = False
        self._labels: dict[Key, str] = {}
        """What was timed so far, and what a person may call it."""
        self._fastest: Key | None = None
        """In a child: what was the fastest."""

    def explore(self, case: int) -> None:
        """Follow every outcome from now on."""
        self._exploring = True
        self._folder = self._folder / str(case)

    @property
    def answer(self) -> Path | None:
        """Where a child puts its plan; None in the process that was asked for the case."""
        return None if self._fastest is None else self._path(len(self._labels) - 1)

    def time(self, call: Callable[[], object]) -> float:
        """Milliseconds that a timed call is said to take; its steps are no part of the plan."""
        nested = self._recorder.branching
        with self._recorder.capture() as steps:
            call()
        key = tuple(map(_action, steps))
        if not nested and self._worth_following(key):
            self._follow(key)
        elif key not in self._labels:
            self._recorder.note(NOTE)
        return _FASTEST if key == self._fastest else MILLISECONDS

    def merged(self, plan: CasePlan) -> CasePlan:
        """The plan with what the children found, and a note on it."""
        if not self._labels or self._fastest is not None:
            return plan
        plans = ((label, self._read(i)) for i, label in enumerate(self._labels.values()))
        worlds = [World(label, found) for label, found in plans if found is not None]
        merged = merge(plan, worlds)
        chosen = merged.steps != plan.steps
        note = f"do_bench: {len(self._labels)} timed calls became a choice" if chosen else NOTE
        return merged.model_copy(update={"notes": tuple(dict.fromkeys((*plan.notes, note)))[:64]})

    def _worth_following(self, key: Key) -> bool:
        return (
            self._exploring
            and self._fastest is None
            and key not in self._labels
            and len(self._labels) < limits.ALTERNATIVES
            and not self._compiler.late
            and threading.current_thread() is threading.main_thread()
        )

    def _follow(self, key: Key) -> None:
        line = self._recorder.line()
        number = len(self._labels)
        self._labels[key] = f"candidate {number + 1}" + ("" if line is None else f", line {line}")
        self._folder.mkdir(parents=True, exist_ok=True)
        flush()
        child = os.fork()
        if child == 0:
            silence()
            self._fastest = key
        else:
            self._await(child)

    def _await(self, child: int) -> None:
        while not os.waitpid(child, os.WNOHANG)[0]:
            if self._compiler.late:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return
            time.sleep(_POLL_SECONDS)

    def _read(self, number: int) -> CasePlan | None:
        try:
            return CasePlan.model_validate_json(self._path(number).read_bytes())
        except (OSError, ValueError):  # it failed, or ran out of time: not a candidate
            return None

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"


def _action(step: Recorded) -> object:
    """What a step does, whatever memory it works in."""
    if isinstance(step, Launch):
        return step.kernel, step.grid
    return (step.id, step.function) if isinstance(step, Choice) else step.op
