"""The facade as one object: installed once per process, entered wherever host code runs."""

import _thread
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from types import MappingProxyType
from typing import Any, Literal, Self

import torch
import torch.autograd.graph

from kernels.contract import Device
from workers.facade import benchmarking, cuda, defaults, inductor
from workers.facade.functions import DeviceFunctions
from workers.facade.hooks import Handler, Hooks
from workers.facade.mode import DeviceMode
from workers.facade.placement import Placement

_NONE: Mapping[str, Any] = MappingProxyType({})


class Facade:
    """Makes host code believe that it runs on a machine with one GPU of the given model.

    `backing` is where its tensors really live: "cpu" with values, "meta" with shapes alone.
    `install` changes torch and Triton for the whole process, for good: use a forked child.
    """

    def __init__(
        self, device: Device, backing: Literal["cpu", "meta"], hooks: Hooks | None = None
    ) -> None:
        self.device = device
        self.placement = Placement(torch.device(backing))
        self.hooks = Hooks() if hooks is None else hooks
        self._handlers: dict[Any, Handler] = {}
        self._entered: list[ExitStack] = []

    def install(self) -> None:
        """Replace what would look for a GPU in torch, torch.cuda, triton.testing and threads."""
        own = DeviceFunctions(self.placement).handlers()
        self._handlers = {**own, **self.hooks.handlers()}
        cuda.install(self.device, self.hooks)
        defaults.install(self.placement)
        benchmarking.install(self.device, self.hooks)
        inductor.install()
        self._follow_autograd()
        self._follow_threads()

    def function_mode(self) -> AbstractContextManager[Any]:
        """The torch function mode alone."""
        return DeviceMode(self.placement, self._handlers)

    def __enter__(self) -> Self:
        stack = ExitStack()
        stack.enter_context(self.function_mode())
        for mode in self.hooks.modes():
            stack.enter_context(mode)
        self._entered.append(stack)
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.pop().close()

    def _follow_autograd(self) -> None:
        # backward() is itself a torch function: user code that it calls would run without the mode.
        engine: Callable[..., Any] = torch.autograd.graph._engine_run_backward

        def run_backward(*args: Any, **keywords: Any) -> Any:
            with self.function_mode():
                return engine(*args, **keywords)

        torch.autograd.graph._engine_run_backward = run_backward
        setattr(torch.autograd, "_engine_run_backward", run_backward)  # noqa: B010  not declared

    def _follow_threads(self) -> None:
        # Modes belong to a thread: in another one, addresses and devices would be the real ones,
        # and operations would be lost. Thread.run is overridden by subclasses, this is not.
        bootstrap = vars(threading.Thread)["_bootstrap_inner"]
        start = _thread.start_new_thread

        def bootstrap_in_facade(thread: threading.Thread) -> None:
            self._run(bootstrap, thread)

        def start_in_facade(
            function: Callable[..., object], args: Any, kwargs: Mapping[str, Any] = _NONE
        ) -> int:
            return start(self._run, (function, *args), dict(kwargs))

        setattr(threading.Thread, "_bootstrap_inner", bootstrap_in_facade)  # noqa: B010  not declared
        for name in ("start_new_thread", "start_new"):
            setattr(_thread, name, start_in_facade)

    def _run(self, function: Callable[..., object], /, *args: Any, **keywords: Any) -> None:
        with ExitStack() as stack:
            stack.enter_context(self.function_mode())
            for mode in self.hooks.modes():
                stack.enter_context(mode)
            function(*args, **keywords)
