"""Torch functions that would give away where the pretended GPU's tensors really live."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from workers.facade import shapes
from workers.facade.hooks import Handler
from workers.facade.placement import CUDA, Placement, check_index
from workers.facade.refusal import Refusal

T = torch.Tensor
Arguments = tuple[Any, ...]
Keywords = dict[str, Any]

_TYPE_NAMES = {
    torch.float64: "DoubleTensor",
    torch.float32: "FloatTensor",
    torch.float16: "HalfTensor",
    torch.bfloat16: "BFloat16Tensor",
    torch.int64: "LongTensor",
    torch.int32: "IntTensor",
    torch.int16: "ShortTensor",
    torch.int8: "CharTensor",
    torch.uint8: "ByteTensor",
    torch.bool: "BoolTensor",
}


class DeviceFunctions:
    """Handlers for one placement."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement

    def handlers(self) -> dict[Any, Handler]:
        """Handler of every function that needs one."""
        return {
            _getter("device"): self._device,
            _getter("is_cuda"): lambda f, a, k: self._placement.holds(a[0]),
            _getter("is_cpu"): lambda f, a, k: not self._placement.holds(a[0]) and f(*a),
            _getter("is_meta"): lambda f, a, k: not self._placement.holds(a[0]) and f(*a),
            T.get_device: lambda f, a, k: 0 if self._placement.holds(a[0]) else -1,
            T.cuda: self._cuda,
            T.to: self._to,
            T.type: self._type,
            T.pin_memory: self._pin_memory,
            T.is_pinned: lambda f, a, k: not self._placement.holds(a[0]),
            T.share_memory_: lambda f, a, k: a[0],
        }

    def _device(self, func: Callable[..., Any], args: Arguments, _: Keywords) -> Any:
        return CUDA if self._placement.holds(args[0]) else func(*args)

    def _cuda(self, _: Callable[..., Any], args: Arguments, keywords: Keywords) -> Any:
        tensor, *rest = args
        wanted = rest[0] if rest else None
        check_index(wanted if isinstance(wanted, int) else getattr(wanted, "index", None))
        if self._placement.holds(tensor):
            return tensor
        return self._moved(tensor, self._placement.backing)

    def _to(self, func: Callable[..., Any], args: Arguments, keywords: Keywords) -> Any:
        tensor, *rest = args
        keywords.pop("non_blocking", None)
        if rest and not isinstance(rest[0], torch.dtype | torch.Tensor):
            device, *more = rest
            resolved = self._placement.resolve(device)
            keywords |= dict(zip(("dtype", "non_blocking", "copy"), more, strict=False))
            with shapes.asked_for() if shapes.names_shapes(device) else nullcontext():
                return self._moved(tensor, resolved, **keywords)
        if keywords.get("device") is not None:
            return self._moved(tensor, keywords.pop("device"), **keywords)
        return func(tensor, *rest, **keywords)

    def _moved(self, tensor: T, device: Any, **keywords: Any) -> T:
        """tensor.to(device), also between torch's own meta device and the pretended GPU."""
        if shapes.asked() and self._placement.holds(tensor):
            keywords = {name: keywords[name] for name in keywords if name == "dtype"}
            return torch.empty_like(tensor, device=device, **keywords)
        with torch._C.DisableTorchFunction():
            without_values = shapes.is_shape(tensor)
        if without_values and not shapes.asked() and device == self._placement.backing:
            raise Refusal(
                "a tensor of the meta device has no values that could be moved to the GPU",
                "use module.to_empty(device='cuda'), or torch.empty_like(tensor, device='cuda')",
            )
        return tensor.to(device, **keywords)

    def _pin_memory(self, _: Callable[..., Any], args: Arguments, __: Keywords) -> Any:
        # A copy, as natively: what is then done to the one must not be seen in the other.
        return args[0].clone()

    def _type(self, func: Callable[..., Any], args: Arguments, keywords: Keywords) -> Any:
        if len(args) > 1 or keywords or not self._placement.holds(args[0]):
            return func(*args, **keywords)
        return f"torch.cuda.{_TYPE_NAMES.get(args[0].dtype, 'Tensor')}"


def _getter(name: str) -> Any:
    return getattr(T, name).__get__
