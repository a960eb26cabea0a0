"""Autotuning without a clock: every configuration becomes an alternative of a choice."""

from collections.abc import Sequence
from typing import Any

from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError

from kernels.contract import Alternative, Choice, Dropped, limits
from workers.build.compilation import Compiler, NotCompiled
from workers.build.picks import Picks, keeps
from workers.build.recorder import Recorded, Recorder
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
        dropped = [(c, "left out: too many configurations") for c in configs[limits.ALTERNATIVES :]]
        unfit = None
        for config in configs[: limits.ALTERNATIVES]:
            try:
                compiled, steps = self._alternative(trial, config, optional=bool(alternatives))
            except _UNFIT as error:
                unfit = error
                dropped.append((config, str(error)))
                continue
            kernels.append(compiled)
            alternatives.append((config, steps))
        if not alternatives:
            raise unfit or ValueError("the autotuner has no configurations")
        trial.settle([config for config, _ in alternatives], key)
        if self._recorder.nested:
            # A tuner within an alternative of another one: its first configuration stands.
            for step in alternatives[0][1]:
                self._recorder.emit(step)
        else:
            self._emit(trial, alternatives, dropped, key)
        if keeps(trial.grid):
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
                restore=trial.views(trial.tuner.restore_value),
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

    @property
    def grid(self) -> object:
        """What the launch was given as its grid."""
        return self._kwargs.get("grid")

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

    def settle(self, configs: Sequence[Any], key: object) -> None:
        """Leave tuner and descriptors as after tuning, with the first configuration as the best."""
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

    def _prepare(self, config: Any) -> None:
        if config.pre_hook is not None:
            config.pre_hook({**self.tuner.nargs, **self._kwargs, **config.all_kwargs()})


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
