"""Autotuning without a clock: every configuration becomes an alternative of a choice."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError

from kernels.contract import Alternative, Choice, Dropped, limits
from workers.build.actions import Recorded, actions, written
from workers.build.compilation import Compiler, NotCompiled
from workers.build.kept import Snapshot
from workers.build.picks import Picks
from workers.build.recorder import Recorder
from workers.facade.benchmarking import MILLISECONDS

_UNFIT = (OutOfResources, CompileTimeAssertionFailure, PTXASError, NotCompiled)
"""What costs a configuration and not the submission; the first three as in Triton itself."""


class Tuning:
    """Takes the place of Autotuner.run."""

    def __init__(self, recorder: Recorder, compiler: Compiler, picks: Picks) -> None:
        self._recorder = recorder
        self._compiler = compiler
        self._picks = picks
        self._pruned: dict[object, list[Any]] = {}
        self._tuners: dict[int, Any] = {}
        """Held, so that no other tuner takes an identity."""

    def install(self) -> None:
        """Replace Autotuner.run for the whole process."""

        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return self.run(tuner, args, kwargs)

        Autotuner.run = run

    def run(self, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a tuned launch; the compiled kernel of its first configuration that fits."""
        self._tuners[id(tuner)] = tuner
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        key = _key(tuner, kwargs)
        configs = self._configs(tuner, key, kwargs)
        trial = _Trial(self._recorder, tuner, args, kwargs)
        if len(configs) == 1:
            result = trial.launch(configs[0])
        else:
            self._compile_ahead(trial, configs)
            result = self._choose(trial, configs, key)
        tuner.nargs = None
        return result

    def _configs(self, tuner: Any, key: object, kwargs: dict[str, Any]) -> list[Any]:
        if len(tuner.configs) == 1:
            return list(tuner.configs)
        if (id(tuner), key) not in self._pruned:
            self._pruned[id(tuner), key] = list(tuner.prune_configs(kwargs))
        return self._pruned[id(tuner), key]

    def _compile_ahead(self, trial: "_Trial", configs: list[Any]) -> None:
        """Compile what no other process of the build is compiling already."""
        for config in configs[: limits.ALTERNATIVES]:
            with self._compiler.optional(patient=False), self._recorder.capture():
                try:
                    trial.launch(config, warmup=True)
                except _UNFIT:
                    continue  # said once, when the alternatives are recorded

    def _choose(self, trial: "_Trial", configs: list[Any], key: object) -> Any:
        alternatives: list[tuple[Any, list[Recorded]]] = []
        kernels: list[Any] = []
        told = trial.told(configs)
        remembered: list[Snapshot] = []
        first = key not in trial.tuner.cache
        dropped = [(c, "left out: too many configurations") for c in configs[limits.ALTERNATIVES :]]
        unfit = None
        for config in configs[: limits.ALTERNATIVES]:
            try:
                with trial.hooks(config, first):
                    compiled, steps = self._alternative(trial, config, optional=bool(alternatives))
            except _UNFIT as error:
                unfit = error
                dropped.append((config, str(error)))
                continue
            kernels.append(compiled)
            remembered.append(Snapshot(told))
            alternatives.append((config, steps))
        if not alternatives:
            raise unfit or ValueError("the autotuner has no configurations")
        trial.settle([config for config, _ in alternatives], key, first)
        if self._recorder.nested:
            # A tuner within an alternative of another one: its first configuration stands.
            for step in alternatives[0][1]:
                self._recorder.emit(step)
        else:
            self._emit(trial, alternatives, dropped, key)
        if any(each != remembered[0] for each in remembered):
            trial.leave(self._picks.read(trial.tuner))
        return self._picks.answered(trial.tuner, key, kernels)

    def _alternative(self, trial: "_Trial", config: Any, optional: bool) -> tuple[Any, Any]:
        with self._recorder.capture() as steps:
            if not optional:
                return trial.launch(config), steps
            with self._compiler.optional():
                return trial.launch(config), steps

    def _emit(
        self,
        trial: "_Trial",
        alternatives: list[tuple[Any, list[Recorded]]],
        dropped: list[tuple[Any, str]],
        key: object,
    ) -> None:
        texts = tuple(str(config)[:500] for config, _ in alternatives)
        name = trial.tuner.base_fn.__name__
        if dropped:
            total = len(alternatives) + len(dropped)
            self._recorder.note(f"{name}: {len(alternatives)} of {total} configurations are kept")
        choice = self._recorder.choice((id(trial.tuner), key, texts))
        self._picks.left_open(trial.tuner, choice, [config for config, _ in alternatives])
        self._recorder.emit(
            Choice(
                id=choice,
                function=name,
                alternatives=tuple(
                    Alternative(config=text, steps=tuple(steps))
                    for text, (_, steps) in zip(texts, alternatives, strict=True)
                ),
                dropped=tuple(
                    Dropped(config=str(config)[:500], reason=reason[:500])
                    for config, reason in dropped[: limits.DROPPED]
                ),
                reset=trial.views(trial.tuner.reset_to_zero),
                restore=trial.restored(),
                line=self._recorder.line(),
            )
        )


class _Trial:
    """One call of a tuned kernel."""

    def __init__(
        self, recorder: Recorder, tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.tuner = tuner
        self._recorder = recorder
        self._args = args
        self._kwargs = kwargs
        self._changed: set[int] = set()
        """Allocations that the tuner's own hooks changed."""

    @property
    def grid(self) -> object:
        """What the launch was given as its grid."""
        return self._kwargs.get("grid")

    def told(self, configs: Sequence[Any]) -> list[object]:
        """Functions of host code that are told the configuration of a launch."""
        tuner = self.tuner
        found = [self.grid, tuner.pre_hook, tuner.post_hook, *(c.pre_hook for c in configs)]
        function = tuner.fn
        while function is not None:
            found += getattr(function, "pre_run_hooks", [])
            found += getattr(function, "values", {}).values()
            function = getattr(function, "fn", None)
        return found

    def launch(self, config: Any, **more: Any) -> Any:
        """What Triton does for a configuration that it has settled on."""
        conflicts = self._kwargs.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}."
                " Make sure that you don't re-define auto-tuned symbols."
            )
        self._prepare(config)
        self.tuner.best_config = config
        return self.tuner.fn.run(*self._args, **{**self._kwargs, **config.all_kwargs(), **more})

    @contextmanager
    def hooks(self, config: Any, first: bool) -> Iterator[None]:
        """Call the tuner's own hooks around a launch, as Triton does the first time.

        What they do to the device is not part of the launch: it is undone before each trial.
        """
        told = self._told(config)
        if not first or not self._has_hooks:
            yield
            return
        with self._recorder.capture() as before:
            self.tuner.pre_hook(told)
        try:
            yield
        except Exception as error:
            self._after(told, error)
            raise
        self._after(told, None)
        self._changed |= _changed(before)

    def _after(self, told: dict[str, Any], error: Exception | None) -> None:
        with self._recorder.capture() as after:
            self.tuner.post_hook(told, exception=error)
        self._changed |= _changed(after)

    @property
    def _has_hooks(self) -> bool:
        return bool(self.tuner.user_defined_pre_hook or self.tuner.user_defined_post_hook)

    def settle(self, configs: Sequence[Any], key: object, first: bool) -> None:
        """Leave tuner and descriptors as after tuning, with the first configuration as the best."""
        if first and self._has_hooks:
            self.tuner.pre_hook(self._told(configs[0]), reset_only=True)
        with self._recorder.capture():
            self._prepare(configs[0])
        self.tuner.best_config = configs[0]
        self.tuner.cache[key] = configs[0]
        self.tuner.configs_timings = {config: [MILLISECONDS] * 3 for config in configs}
        self.tuner.bench_time = 0.0

    def leave(self, config: Any) -> None:
        """Let the grid function be called last for that configuration, as natively."""
        with self._recorder.capture():
            self.launch(config)

    def views(self, names: Sequence[str]) -> tuple[Any, ...]:
        """The tensors of those arguments."""
        named = {**self.tuner.nargs, **self._kwargs}
        return tuple(self._recorder.memory.view(named[name]) for name in names)

    def restored(self) -> tuple[Any, ...]:
        """What every trial must find as it was, by name or because a hook changes it."""
        named = self.views(self.tuner.restore_value)
        known = {view.buffer for view in (*named, *self.views(self.tuner.reset_to_zero))}
        memory = self._recorder.memory
        return (*named, *(memory.whole(index) for index in sorted(self._changed - known)))

    def _prepare(self, config: Any) -> None:
        if config.pre_hook is not None:
            config.pre_hook(self._told(config))

    def _told(self, config: Any) -> dict[str, Any]:
        return {**self.tuner.nargs, **self._kwargs, **config.all_kwargs()}


def _changed(steps: Sequence[Recorded]) -> set[int]:
    return {index for action in actions(steps) for index in written(action)}


def _key(tuner: Any, kwargs: dict[str, Any]) -> object:
    """Triton's own key: the values of the key arguments and all element types."""
    named = {k: v for k, v in {**tuner.nargs, **kwargs}.items() if k in tuner.arg_names}
    values = [named[name] for name in tuner.keys if name in named]
    key = (*values, *(str(v.dtype) for v in named.values() if hasattr(v, "dtype")))
    try:
        hash(key)
    except TypeError:
        return str(key)
    return key
