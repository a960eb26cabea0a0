"""Host code that asks which configuration an autotuner took, and goes on accordingly.

It may read `best_config` or the timings, look the decision up in the tuner's cache, look at the
kernel that the launch returns, or keep what a hook or its grid function was given. The measurer
decides much later. So host code is followed once for each configuration, and what it does
differently becomes a second choice that goes with the first. Where that cannot be done, the first
configuration stands.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triton.runtime.autotuner import Autotuner

from kernels.contract import CasePlan
from workers.build.merging import link, settled
from workers.build.recorder import Recorder
from workers.build.worlds import Worlds

_FIRST = "{}: host code asked for the configuration; the first stands"
_NAME, _TIMINGS = "best_config", "configs_timings"


class Picks:
    """Takes the place of Autotuner.best_config."""

    def __init__(self, worlds: Worlds, recorder: Recorder) -> None:
        self._worlds = worlds
        self._recorder = recorder
        self._open: dict[int, tuple[int, Sequence[Any]]] = {}
        """The newest choice of each tuner, and its configurations."""
        self._followed: dict[int, tuple[str, range]] = {}
        """Choices that are followed: the function, and the numbers of their worlds."""
        self._mine: tuple[int, int] | None = None
        """In a child: the choice, and the configuration that it follows."""

    def install(self) -> None:
        """Replace the attributes for the whole process."""
        setattr(Autotuner, _NAME, property(self.read, self.write))
        setattr(Autotuner, _TIMINGS, property(self._timings, self._set_timings))

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
        if self._mine is None and choice not in self._followed:
            self._follow(choice, len(configs), tuner.base_fn.__name__)
        return configs[self._mine[1] if self._mine and self._mine[0] == choice else 0]

    def answered(self, tuner: Any, key: object, kernels: Sequence[Any]) -> Any:
        """What a tuned launch returns; the decision is in the tuner's cache as well."""
        if id(tuner) not in self._open:
            return kernels[0]
        if not isinstance(tuner.cache, _Cache):
            tuner.cache = _Cache(tuner.cache)
        tuner.cache.open(key, lambda: self.read(tuner))
        _, configs = self._open[id(tuner)]
        of_config = dict(zip(map(id, configs), kernels, strict=True))
        return PickedKernel(lambda: of_config.get(id(self.read(tuner)), kernels[0]))

    def _timings(self, tuner: Any) -> dict[Any, Any]:
        if _TIMINGS not in vars(tuner):
            raise AttributeError(f"{type(tuner).__name__!r} object has no attribute {_TIMINGS!r}")
        timings: dict[Any, Any] = vars(tuner)[_TIMINGS]
        if id(tuner) not in self._open:
            return timings
        fastest = self.read(tuner)
        return {c: [ms / (1 + (c is fastest)) for ms in taken] for c, taken in timings.items()}

    def _set_timings(self, tuner: Any, timings: Any) -> None:
        vars(tuner)[_TIMINGS] = timings

    def linked(self, plan: CasePlan) -> CasePlan:
        """The plan with what the children found.

        What follows from the first choice that was asked for joins its alternatives. Others stay
        open if nothing follows from them, as when host code prints the configuration.
        """
        if not self._followed or self._mine is not None:
            return plan
        worlds = self._worlds.plans()
        (first, (_, numbers)), *others = self._followed.items()
        closed = self._recorder.settled
        notes = list(plan.notes)
        for choice, (function, own) in others:
            if not all(_same(plan, settled(worlds[number], closed)) for number in own):
                closed = closed | {choice}
                notes.append(_FIRST.format(function))
        base = settled(plan, closed).model_copy(update={"notes": tuple(notes)[:64]})
        return link(base, first, [settled(worlds[number], closed) for number in numbers])

    def _follow(self, choice: int, configs: int, function: str) -> None:
        own = sum(len(numbers) for _, numbers in self._followed.values())
        alone = self._worlds.count == own
        if not alone or self._recorder.branching or not self._worlds.possible:
            self._recorder.settle(choice)
            self._recorder.note(_FIRST.format(function))
            return
        self._followed[choice] = function, range(own, own + configs - 1)
        for index in range(1, configs):
            if self._worlds.branch():
                self._mine = choice, index
                return


def _same(one: CasePlan, other: CasePlan | None) -> bool:
    return other is not None and all(
        getattr(one, name) == getattr(other, name) for name in ("steps", "buffers", "outputs")
    )


class PickedKernel:
    """The compiled kernel of the configuration that host code goes on with."""

    def __init__(self, kernel: Callable[[], Any]) -> None:
        self._kernel = kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel(), name)

    def __getitem__(self, grid: Any) -> Any:
        return self._kernel()[grid]


class _Cache(dict[object, Any]):
    """Decisions of a tuner by key, some of them open until they are read."""

    _asked: dict[object, Callable[[], Any]]

    def __init__(self, decided: Mapping[object, Any]) -> None:
        super().__init__(decided)
        self._asked = {}

    def open(self, key: object, ask: Callable[[], Any]) -> None:
        """The decision of a key is what `ask` returns when it is looked up."""
        self._asked[key] = ask

    def __getitem__(self, key: object) -> Any:
        if key in self._asked:
            self[key] = self._asked.pop(key)()
        return super().__getitem__(key)

    def get(self, key: object, default: Any = None) -> Any:
        """As dict.get."""
        return self[key] if key in self else default  # noqa: SIM401  this is that get

    def values(self) -> Any:
        """As dict.values, of all decisions."""
        return [self[key] for key in self]

    def items(self) -> Any:
        """As dict.items, of all decisions."""
        return [(key, self[key]) for key in self]
