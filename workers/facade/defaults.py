"""Parts of torch outside torch.cuda that choose devices or compile for them."""

from collections.abc import Callable
from typing import Any, Self

import torch
import torch._library.triton
import torch.utils._triton

from workers.facade.placement import CUDA, Placement
from workers.facade.refusal import Refusal


def install(placement: Placement) -> None:
    """Replace default devices, generators, autocast and torch.compile."""
    autocast = Autocast
    replacements: list[tuple[Any, str, Any]] = [
        (torch, "set_default_device", lambda device: _set_default(placement, device)),
        (torch, "get_default_device", lambda: _default(placement)),
        (torch, "set_default_tensor_type", lambda kind: _set_default_type(placement, kind)),
        (torch, "Generator", Generator),
        (torch, "compile", _compile),
        # Its argument parser accepts real streams only, before any torch function is asked.
        (torch.Tensor, "record_stream", lambda tensor, stream: None),
        (torch, "autocast", autocast),
        (torch.amp, "autocast", autocast),
        (torch.amp.autocast_mode, "autocast", autocast),
        (
            torch.cuda.amp,
            "autocast",
            lambda enabled=True, *_, **__: autocast("cuda", None, enabled),
        ),
        (torch.library, "wrap_triton", _same),
        (torch._library.triton, "wrap_triton", _same),
        (torch._library.triton, "capture_triton", _same),
        (torch.utils._triton, "has_triton", lambda: True),
        (torch.utils._triton, "has_triton_package", lambda: True),
    ]
    for owner, name, replacement in replacements:
        setattr(owner, name, replacement)


_Generator = torch.Generator


class _GeneratorType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Generator)


class Generator(metaclass=_GeneratorType):
    """torch.Generator: one of the CPU, whatever device was asked for."""

    def __new__(cls, device: Any = "cpu") -> Any:
        """A generator that torch's CPU functions accept."""
        return _Generator()


class Autocast:
    """torch.autocast: switched off it changes nothing, switched on it is refused."""

    def __init__(
        self, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, *_: Any, **__: Any
    ) -> None:
        if enabled and str(device_type).startswith("cuda"):
            raise Refusal("torch.autocast is not available here", "cast explicitly with .to(dtype)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As a decorator."""
        return function


def _default(placement: Placement) -> torch.device:
    return CUDA if placement.default.type == "cuda" else placement.default


def _set_default(placement: Placement, device: Any) -> None:
    placement.resolve(device)
    placement.default = torch.device("cpu" if device is None else device)


def _set_default_type(placement: Placement, kind: Any) -> None:
    if "cuda" in str(kind):
        placement.default = torch.device("cuda")


def _compile(model: Any = None, *_: Any, **__: Any) -> Any:
    return _same if model is None else model


def _same(value: Any) -> Any:
    return value
