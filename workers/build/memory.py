"""The pretended GPU's memory: which storage is which buffer, and at which address."""

import bisect
from dataclasses import dataclass, field
from typing import Literal

import torch

from kernels.contract import DType, Relocation, View, limits
from workers.facade import Refusal

BASE = 0x5A17_C000_0000
"""First address: an unlikely number, so that no count or hash in a constant passes for one."""
ALIGNMENT = 512
GAP = 0x16A_09E6_6600
"""Between storages. As odd, and so large that no count of elements passes for the difference of two
addresses, even in units of 8 bytes; 4,096 end below 2**53, so that addresses are whole floats."""
_LEAST_DIFFERENCE = GAP >> 4
DTYPES = {getattr(torch, name.value): name for name in DType}


@dataclass
class Allocation:
    """One storage and its place."""

    index: int
    """Index among the case's buffers."""
    address: int
    nbytes: int
    storage: torch.UntypedStorage
    """Held, so that no other storage takes its identity."""
    role: Literal["input", "temporary", "constant"] = "temporary"
    name: str | None = None
    """Of an input."""
    values: str | None = None
    """Of a host-visible input: digest of its bytes."""
    content: bytes = b""
    """Of a constant."""
    relocations: tuple[Relocation, ...] = field(default=())
    carried: set[int] = field(default_factory=set)
    """Allocations whose addresses operations may have copied into it."""


class Memory:
    """Gives every storage that host code names an index and an address of its own."""

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self._by_storage: dict[int, Allocation] = {}
        self._starts: list[int] = []
        self._next = BASE
        self._nbytes = 0

    def of(self, tensor: torch.Tensor) -> Allocation:
        """The allocation that a tensor lies in."""
        with torch._C.DisableTorchFunction():
            return self.of_storage(tensor.untyped_storage())

    def of_storage(self, storage: torch.UntypedStorage) -> Allocation:
        """The allocation that a storage is."""
        known = self._by_storage.get(storage._cdata)
        return self._add(storage) if known is None else known

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor lies inside its storage, at the size that this had when it was named."""
        storage = tensor.untyped_storage()
        known = self._by_storage.get(storage._cdata)
        nbytes = storage.nbytes() if known is None else known.nbytes
        last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
        end = (int(tensor.storage_offset()) + last + 1) * tensor.element_size()
        return tensor.numel() == 0 or end <= nbytes

    def address(self, tensor: torch.Tensor) -> int:
        """What data_ptr() answers."""
        with torch._C.DisableTorchFunction():
            if tensor.numel() == 0:
                return 0
            return self.of(tensor).address + int(tensor.storage_offset()) * tensor.element_size()

    def find(self, address: int) -> tuple[Allocation, int] | None:
        """The allocation at an address and the offset in it; None for no address."""
        if not BASE <= address < self._next:
            return None
        allocation = self.allocations[bisect.bisect_right(self._starts, address) - 1]
        offset = address - allocation.address
        return (allocation, offset) if offset <= allocation.nbytes else None

    def is_difference(self, value: int) -> bool:
        """Whether a number is how far two tensors lie apart, in bytes or in elements."""
        if abs(value) < _LEAST_DIFFERENCE:
            return False
        places = self.allocations
        return any(self._apart(one, value * size) for size in (1, 2, 4, 8) for one in places)

    def _apart(self, one: Allocation, distance: int) -> bool:
        """Whether something in another allocation lies so far behind something in this one."""
        first = one.address + distance
        index = bisect.bisect_right(self._starts, first + one.nbytes) - 1
        if index in (-1, one.index):
            return False
        return first <= self.allocations[index].address + self.allocations[index].nbytes

    def whole(self, index: int) -> View:
        """All bytes of an allocation."""
        nbytes = self.allocations[index].nbytes
        return View(buffer=index, offset=0, shape=(nbytes,), strides=(1,), dtype=DType.UINT8)

    def reached(self, indices: set[int]) -> set[int]:
        """Those allocations and all that they may hold addresses of."""
        reached: set[int] = set()
        waiting = list(indices)
        while waiting:
            index = waiting.pop()
            if index not in reached:
                reached.add(index)
                waiting += self._held(index)
        return reached

    def carry(self, sources: set[int], target: int) -> None:
        """An operation on some allocations writes another."""
        for source in sources:
            self.allocations[target].carried |= self._held(source)

    def _held(self, index: int) -> set[int]:
        allocation = self.allocations[index]
        return allocation.carried | {r.buffer for r in allocation.relocations}

    def view(self, tensor: torch.Tensor) -> View:
        """The tensor as a plan names it; Refusal for element types that no plan has."""
        with torch._C.DisableTorchFunction():
            if tensor.dim() > limits.RANK:
                raise Refusal(f"a tensor has {tensor.dim()} dimensions", "use at most 8")
            if tensor.is_conj() or tensor.is_neg():
                raise Refusal("a lazily conjugated or negated tensor has no address", "clone it")
            return View(
                buffer=self.of(tensor).index,
                offset=tensor.storage_offset() * tensor.element_size(),
                shape=tuple(tensor.shape),
                strides=tuple(tensor.stride()),
                dtype=dtype_of(tensor),
            )

    def _add(self, storage: torch.UntypedStorage) -> Allocation:
        if len(self.allocations) >= limits.BUFFERS:
            raise Refusal(
                f"the host function uses more than {limits.BUFFERS} tensors",
                "allocate one larger tensor and use views of it",
            )
        nbytes = storage.nbytes()
        if self._nbytes + nbytes > limits.CASE_BYTES:
            raise Refusal(
                f"the tensors of a case take more than {limits.CASE_BYTES >> 30} GiB",
                "allocate smaller tensors, or use them again",
            )
        allocation = Allocation(len(self.allocations), self._next, nbytes, storage)
        self.allocations.append(allocation)
        self._nbytes += nbytes
        self._starts.append(allocation.address)
        self._by_storage[storage._cdata] = allocation
        # At least one unused alignment unit in between, so that an end is no other's start.
        self._next += (nbytes // ALIGNMENT + 2) * ALIGNMENT + GAP
        return allocation


def dtype_of(tensor: torch.Tensor) -> DType:
    """Element type as the contract names it; Refusal if it does not."""
    name = DTYPES.get(tensor.dtype)
    if name is None:
        raise Refusal(f"tensors of {tensor.dtype} cannot stand in a plan", "use a real type")
    return name
