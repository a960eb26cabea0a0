"""Launches, warm-ups and autotuners on the interpreter, as host code expects them of a GPU."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from triton.runtime import autotuner, interpreter
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels.contract.wire import KernelFacts
from workers.interpret.caveats import Caveats
from workers.interpret.memory import Memory

_DEFAULT_WARPS = 4
_UNKNOWN = KernelFacts(function="unknown", registers=32, spills=0, shared=0, warps=_DEFAULT_WARPS)
"""Of kernels that the plan does not hold: host code computes occupancy from something."""


class CompiledFacts:
    """What a launch or a warm-up returns: facts from the build, launchable like a kernel."""

    def __init__(self, function: Any, facts: KernelFacts) -> None:
        self._function = function
        self.name = function.__name__
        self.n_regs = facts.registers
        self.n_spills = facts.spills
        self.n_max_threads = 1024
        self.metadata = SimpleNamespace(
            name=self.name, num_warps=facts.warps, num_ctas=1, shared=facts.shared
        )

    def _init_handles(self) -> None:
        """Nothing is loaded."""

    def __getitem__(self, grid: Any) -> Any:
        def launch(*args: Any, **keywords: Any) -> Any:
            return self._function.run(*args, grid=grid, warmup=False, **keywords)

        return launch


class Launcher:
    """Runs interpreted kernels for host code."""

    def __init__(self, facts: Iterable[KernelFacts], memory: Memory) -> None:
        self._facts: dict[str, list[KernelFacts]] = {}
        for fact in facts:
            self._facts.setdefault(fact.function, []).append(fact)
        self._memory = memory

    def install(self) -> None:
        """Replace how the interpreter of this process launches, for good."""
        run = interpreter.InterpretedFunction.run

        def run_kernel(function: Any, *args: Any, grid: Any, warmup: bool, **keywords: Any) -> Any:
            if not warmup:
                self._memory.admit(_tensors([*args, *keywords.values()]))
                places = _grid(function, grid, args, keywords)
                run(function, *args, grid=places, warmup=False, **keywords)
            warps = keywords.get("num_warps", _DEFAULT_WARPS)
            return CompiledFacts(function, self.facts(function.__name__, warps))

        interpreter.InterpretedFunction.run = run_kernel
        # Tensors are on the CPU already: nothing to copy there and back.
        executor = interpreter.GridExecutor
        executor._init_args_hst = lambda _, args, keywords: (list(args), dict(keywords))
        executor._restore_args_dev = lambda *_: None

    def facts(self, function: str, warps: int) -> KernelFacts:
        """Those of the kernel with so many warps, or else of another one of that function."""
        known = self._facts.get(function, [_UNKNOWN])
        return next((fact for fact in known if fact.warps == warps), known[0])


def install_autotuner(survivors: Mapping[str, Sequence[str]], caveats: Caveats) -> None:
    """Have autotuners take the first configuration that survived the build, untimed."""

    def run(tuner: Any, *args: Any, **keywords: Any) -> Any:
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        configs = list(tuner.prune_configs(keywords))
        known = survivors.get(tuner.base_fn.__name__, ())
        config = next((c for c in configs if str(c)[:500] in known), configs[0])
        if len(configs) > 1:
            caveats.add(f"Of {tuner.base_fn.__name__} one autotune configuration was run per case.")
        tuner.best_config = config
        chosen = config.all_kwargs()
        if config.pre_hook is not None:
            config.pre_hook({**tuner.nargs, **keywords, **chosen})
        result = tuner.fn.run(*args, **keywords, **chosen)
        tuner.nargs = None
        return result

    autotuner.Autotuner.run = run


def _grid(function: Any, grid: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    if callable(grid):
        grid = grid(_bound(function, args, keywords))
    return tuple(int(size) for size in grid)


def _bound(function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in keywords.items() if name in function.arg_names}
    bound = inspect.signature(function.fn).bind(*args, **known)
    bound.apply_defaults()
    return dict(bound.arguments)


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, TensorDescriptor):
            yield value.base
        elif isinstance(value, tuple):
            yield from _tensors(value)
        elif isinstance(getattr(value, "base", None), torch.Tensor):
            yield value.base  # what triton.reinterpret makes
