"""Values of device tensors that host code made itself, and may therefore read."""

from typing import Any, Literal

import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_map

from workers.build.memory import Memory
from workers.build.tensors import device_tensors, is_device, on_cpu

BYTES = 1 << 20
"""Largest storage whose values are kept."""
ELEMENTS = 1 << 16
"""Largest result that is computed on the host."""

OVERWRITES = ("zero_", "fill_", "copy_")
"""Operations after which the old values do not matter."""
_LIKE = ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full")
"""Operations that take a tensor for its shape or type alone."""

Origin = Literal["host", "fill"]
"""Copied from the host, or filled by an operation on the device."""


class KnownValues:
    """Keeps a copy on the CPU of every small storage whose content follows from host code."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._copies: dict[int, tuple[torch.Tensor, Origin]] = {}

    def get(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """A CPU view of the copy, of the tensor's shape; None if its values are not known."""
        entry = self._copies.get(self._memory.of(tensor).index)
        if entry is None:
            return None
        view = torch.empty(0, dtype=tensor.dtype)
        return view.set_(
            entry[0].untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
        )

    def put(self, tensor: torch.Tensor, values: torch.Tensor, origin: Origin) -> None:
        """Remember the values of a tensor that fills its storage."""
        allocation = self._memory.of(tensor)
        if not 0 < allocation.nbytes <= BYTES or not fills(tensor, allocation.nbytes):
            return
        copy = torch.empty(allocation.nbytes, dtype=torch.uint8)
        self._copies[allocation.index] = (copy, origin)
        view = self.get(tensor)
        assert view is not None
        view.copy_(values)

    def hold(self, index: int, content: bytes, origin: Origin) -> None:
        """Remember the bytes of a whole storage."""
        copy = torch.empty(len(content), dtype=torch.uint8)
        if content:
            copy.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        self._copies[index] = (copy, origin)

    def forget(self, index: int) -> None:
        """The values of an allocation are no longer known."""
        self._copies.pop(index, None)

    def launched(self, index: int) -> None:
        """A kernel got an allocation and may write it.

        What was copied from the host stays known, since tables are rarely written; whoever
        relies on it afterwards says so in the plan, and it is checked after a run.
        """
        entry = self._copies.get(index)
        if entry is not None and entry[1] == "fill":
            del self._copies[index]

    def follow(
        self, func: OpOverload, args: Any, kwargs: Any, output: torch.Tensor, certain: bool
    ) -> None:
        """Repeat a recorded operation on the copies; `certain` if it happens in every run."""
        in_place = func._schema.is_mutable
        small = certain and output.numel() <= ELEMENTS
        overwrites = in_place and func.overloadpacket.__name__ in OVERWRITES
        if small and overwrites and self.get(output) is None:
            self.put(output, torch.empty(output.shape, dtype=output.dtype), "fill")
        if small and func.overloadpacket.__name__ in _LIKE:
            args = (torch.empty_like(output, device="cpu"), *args[1:])
        inputs = device_tensors((args, kwargs))
        if not small or any(self.get(tensor) is None for tensor in inputs):
            if in_place:
                self.forget(self._memory.of(output).index)
            return
        args, kwargs = tree_map(self._copied, (args, kwargs))
        result = func(*args, **kwargs)
        if not in_place:
            self.put(output, result, "fill")

    def _copied(self, value: Any) -> Any:
        return self.get(value) if is_device(value) else on_cpu(value)


def fills(tensor: torch.Tensor, nbytes: int) -> bool:
    """Whether a tensor has every byte of its storage: as many elements, none of them twice."""
    reach = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    whole = tensor.numel() * tensor.element_size() == nbytes and not tensor.storage_offset()
    return whole and tensor.numel() == reach + 1
