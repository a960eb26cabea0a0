"""Host code that asks which configuration an autotuner took, and goes on accordingly.

The measurer takes it, much later. So host code is followed once for each configuration, and what
it does differently becomes a second choice that goes with the first. Where that cannot be done,
the first configuration stands.
"""

from collections.abc import Sequence
from typing import Any

from triton.runtime.autotuner import Autotuner

from kernels.contract import CasePlan
from workers.build.merging import link
from workers.build.recorder import Recorder
from workers.build.worlds import Worlds

_NAME = "best_config"


class Picks:
    """Takes the place of Autotuner.best_config."""

    def __init__(self, worlds: Worlds, recorder: Recorder) -> None:
        self._worlds = worlds
        self._recorder = recorder
        self._open: dict[int, tuple[int, Sequence[Any]]] = {}
        """The newest choice of each tuner, and its configurations."""
        self._followed: int | None = None
        """The choice whose configurations are followed."""
        self._index = 0
        """Which of its configurations this process follows."""

    def install(self) -> None:
        """Replace the attribute for the whole process."""
        setattr(Autotuner, _NAME, property(self.read, self.write))

    def write(self, tuner: Any, config: Any) -> None:
        """A tuner takes a configuration that is not open."""
        vars(tuner)[_NAME] = config
        self._open.pop(id(tuner), None)

    def left_open(self, tuner: Any, choice: int, configs: Sequence[Any]) -> None:
        """A tuner left a choice among configurations open."""
        self._open[id(tuner)] = choice, configs

    def read(self, tuner: Any) -> Any:
        """The configuration that host code shall go on with."""
        if _NAME not in vars(tuner):
            raise AttributeError(f"{type(tuner).__name__!r} object has no attribute {_NAME!r}")
        if id(tuner) not in self._open:
            return vars(tuner)[_NAME]
        choice, configs = self._open[id(tuner)]
        if choice != self._followed:
            self._follow(choice, len(configs), tuner.base_fn.__name__)
        return configs[self._index if choice == self._followed else 0]

    def linked(self, plan: CasePlan) -> CasePlan:
        """The plan with what the children found."""
        if self._followed is None or self._index:
            return plan
        return link(plan, self._followed, self._worlds.plans())

    def _follow(self, choice: int, configs: int, function: str) -> None:
        if self._worlds.count or self._recorder.branching or not self._worlds.possible:
            self._recorder.settle(choice)
            self._recorder.note(
                f"{function}: host code asked for the configuration; the first stands"
            )
            return
        self._followed = choice
        for index in range(1, configs):
            if self._worlds.branch():
                self._index = index
                return
