"""Random numbers drawn on the device, which are allowed as long as nothing uses them.

Modules draw their first weights so, which host code then writes over. No plan could repeat them:
they are no steps, and neither is what is done to them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch._ops import OpOverload

from workers.build.known import OVERWRITES, fills
from workers.build.memory import Memory
from workers.build.tensors import device_tensors


@dataclass(frozen=True)
class Draw:
    """Where host code drew random numbers."""

    operation: str
    line: int | None
    importing: bool


class Drawn:
    """Allocations that hold random numbers, or what was made of them."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._draws: dict[int, Draw] = {}

    def among(self, indices: Iterable[int]) -> Draw | None:
        """The draw that one of some allocations holds; None if none does."""
        return next((self._draws[i] for i in indices if i in self._draws), None)

    def of(self, tensors: Iterable[torch.Tensor]) -> Draw | None:
        """The draw that one of some tensors holds; None if none does."""
        return self.among(self._memory.of(t).index for t in tensors) if self._draws else None

    def put(self, tensors: Iterable[torch.Tensor], draw: Draw) -> list[int]:
        """Some tensors hold random numbers from now on: their allocations."""
        indices = [self._memory.of(tensor).index for tensor in tensors]
        self._draws.update(dict.fromkeys(indices, draw))
        return indices

    def overwritten(self, func: OpOverload, args: tuple[object, ...]) -> bool:
        """Whether an operation leaves nothing of random numbers; then they are forgotten."""
        if func.overloadpacket.__name__ not in OVERWRITES:
            return False
        target, *sources = device_tensors(args)
        allocation = self._memory.of(target)
        if self.of(sources) or not fills(target, allocation.nbytes):
            return False
        self._draws.pop(allocation.index, None)
        return True
