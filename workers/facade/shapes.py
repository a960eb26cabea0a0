"""Tensors of torch's own meta device, told from those of the GPU, which may live there too.

Host code makes them to build modules whose weights come later. They have no values: whatever is
done to them gives more of them, and is no part of a plan.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

_asked: ContextVar[bool] = ContextVar("asked", default=False)
_storages: dict[int, torch.UntypedStorage] = {}
"""Those of shapes by identity; held, so that no other storage takes it."""


def names_shapes(device: Any) -> bool:
    """Whether a device argument of host code means torch's own meta device."""
    return isinstance(device, str | torch.device) and str(device).partition(":")[0] == "meta"


@contextmanager
def asked_for() -> Iterator[None]:
    """What is created in the body, by a device argument, is a shape."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


def asked() -> bool:
    """Whether the meta device, as a device argument, means itself and not the GPU."""
    return _asked.get()


def is_shape(value: Any) -> bool:
    """Whether it is a tensor of torch's own meta device; only with torch functions off."""
    return bool(_storages) and _on_meta(value) and value.untyped_storage()._cdata in _storages


def as_shapes(result: Any, device_tensors: Iterable[torch.Tensor] = ()) -> Any:
    """A result of which every tensor on the meta device is a shape from now on.

    But for views of the GPU's own tensors, which are given.
    """
    real = {tensor.untyped_storage()._cdata for tensor in device_tensors}
    for value in tree_flatten(result)[0]:
        if _on_meta(value) and value.untyped_storage()._cdata not in real:
            storage = value.untyped_storage()
            _storages[storage._cdata] = storage
    return result


def _on_meta(value: Any) -> bool:
    dense = isinstance(value, torch.Tensor) and value.layout is torch.strided
    return dense and value.device.type == "meta"
