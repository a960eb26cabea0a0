"""The torch function mode under which host code sees the GPU."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from workers.facade import shapes
from workers.facade.hooks import Handler
from workers.facade.placement import Placement

_NAMING = (torch.device, torch._C._nn._parse_to)
"""Give back the device that they are told, to be resolved where it is used."""
_called: ContextVar[str] = ContextVar("called", default="")


def called() -> str:
    """Name of the torch function that host code has called and is in; empty outside of any."""
    return _called.get()


class DeviceMode(TorchFunctionMode):
    """Answers what host code asks of tensors' devices and places what it creates."""

    def __init__(self, placement: Placement, handlers: Mapping[Any, Handler]) -> None:
        super().__init__()
        self._placement = placement
        self._handlers = handlers

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        keywords = dict(kwargs or {})
        if func in _NAMING:
            return func(*args, **keywords)
        wanted = self._wanted(func, keywords)
        token = _called.set(getattr(func, "__name__", ""))
        try:
            with shapes.asked_for() if shapes.names_shapes(wanted) else nullcontext():
                return self._call(func, args, self._placed(keywords, wanted))
        finally:
            _called.reset(token)

    def _call(
        self, func: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        handler = self._handlers.get(func)
        if handler is not None:
            return handler(func, args, keywords)
        resolve = self._placement.resolve
        args = tuple(resolve(a) if isinstance(a, torch.device) else a for a in args)
        return func(*args, **keywords)

    def _wanted(self, func: Callable[..., Any], keywords: dict[str, Any]) -> Any:
        """Device that a call names; None for none."""
        device = keywords.get("device")
        if device is None and func in _device_constructors():
            return self._placement.injected()
        return device

    def _placed(self, keywords: dict[str, Any], wanted: Any) -> dict[str, Any]:
        """Keywords with the device resolved and what only a real GPU needs taken out."""
        if wanted is not None:
            keywords["device"] = self._placement.resolve(wanted)
        keywords.pop("pin_memory", None)
        return keywords
