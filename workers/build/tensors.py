"""Telling tensors of the pretended GPU, which are on torch's meta device, from those of the CPU."""

from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_flatten

from workers.facade import shapes

META = torch.device("meta")


def is_device(value: Any) -> bool:
    """Whether it is a tensor of the GPU; only with torch functions off."""
    return isinstance(value, torch.Tensor) and value.device == META and not shapes.is_shape(value)


def on_device(value: Any) -> bool:
    """Whether it is a tensor of the GPU."""
    with torch._C.DisableTorchFunction():
        return is_device(value)


def device_tensors(tree: Any) -> list[torch.Tensor]:
    """The GPU's tensors among nested arguments."""
    with torch._C.DisableTorchFunction():
        return [value for value in tree_flatten(tree)[0] if is_device(value)]


def any_on_device(tree: Any) -> bool:
    """Whether nested arguments hold a tensor of the GPU or name the GPU."""
    return any(
        is_device(value) or (isinstance(value, torch.device) and value == META)
        for value in tree_flatten(tree)[0]
    )


def on_backing(value: Any) -> Any:
    """The meta device for the GPU; anything else as it is."""
    return META if isinstance(value, torch.device) and value.type == "cuda" else value


def on_cpu(value: Any) -> Any:
    """The CPU for any device; anything else as it is."""
    return torch.device("cpu") if isinstance(value, torch.device) else value


def has_kernel(func: OpOverload, key: str) -> bool:
    """Whether an implementation is registered under a dispatch key."""
    name = f"{func._schema.name}.{func._overloadname}".removesuffix(".default")
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))
