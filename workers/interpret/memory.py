"""Checks every address that an interpreted kernel uses against the tensors that exist.

The interpreter reads and writes real memory without looking. Here a write outside all tensors
ends the run, and a read outside gets NaN, which is what it would find beside a buffer on the GPU.
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import triton.language as tl
from triton.runtime import interpreter

from workers.interpret.caveats import Caveats
from workers.interpret.faults import IllegalAddress, OutOfBounds

Addresses = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

_FAR = 1 << 20
"""Bytes from any tensor beyond which a GPU would call an address illegal."""


class Memory:
    """Where tensors lie: their storages as sorted, disjoint intervals of addresses."""

    def __init__(self, caveats: Caveats) -> None:
        self._caveats = caveats
        self._spans: dict[int, int] = {}
        self._starts = self._ends = np.zeros(0, np.int64)

    def admit(self, tensors: Iterable[torch.Tensor]) -> None:
        """From now on, only these tensors' storages are known."""
        self._spans = {}
        self._add(tensors)

    def outside(self, addresses: Addresses, mask: npt.NDArray[Any], size: int) -> Mask | None:
        """Which addresses of elements lie in no tensor; None if all that are used do."""
        # The interpreter may hold a mask as integers, or its bytes alone where it has a descriptor.
        places, used = np.broadcast_arrays(addresses.astype(np.int64), np.asarray(mask, np.bool_))
        chosen = places[used]
        if chosen.size == 0 or self._inside(chosen, size).all():
            return None
        self._add(_live_tensors())
        wrong = used.copy()
        wrong[used] = ~self._inside(chosen, size)
        if not wrong.any():
            return None
        if self._distance(places[wrong]).max() > _FAR:
            raise IllegalAddress("a kernel used an illegal address, far from any tensor")
        return wrong

    def read_outside(self) -> None:
        """Told that a kernel read where no tensor is."""
        self._caveats.add("A kernel read outside its tensors; what it found there was NaN.")

    def _add(self, tensors: Iterable[torch.Tensor]) -> None:
        for tensor in tensors:
            storage = tensor.untyped_storage()
            if storage.data_ptr() != 0:
                self._spans[storage.data_ptr()] = storage.data_ptr() + storage.nbytes()
        self._starts = np.array(sorted(self._spans), np.int64)
        self._ends = np.array([self._spans[int(start)] for start in self._starts], np.int64)

    def _inside(self, places: npt.NDArray[np.int64], size: int) -> Mask:
        if self._starts.size == 0:
            return np.zeros(places.shape, np.bool_)
        span = np.searchsorted(self._starts, places, side="right") - 1
        inside: Mask = (span >= 0) & (places + size <= self._ends[span])
        return inside

    def _distance(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if self._starts.size == 0:
            return np.full(places.shape, _FAR + 1, np.int64)
        after = np.searchsorted(self._starts, places, side="right")
        to_next = self._starts[np.minimum(after, self._starts.size - 1)] - places
        to_last = places - self._ends[np.maximum(after - 1, 0)]
        nearest: npt.NDArray[np.int64] = np.minimum(np.abs(to_next), np.abs(to_last))
        return nearest


def install(memory: Memory) -> None:
    """Have the interpreter of this process ask before it touches memory, for good."""
    builder = interpreter.InterpreterBuilder
    builder.create_masked_load = _checked_load(builder.create_masked_load, memory)
    builder.create_masked_store = _checked_store(builder.create_masked_store, memory)
    builder.create_atomic_rmw = _checked_update(builder.create_atomic_rmw, memory)
    builder.create_atomic_cas = _checked_swap(builder.create_atomic_cas, memory)


Method = Callable[..., Any]


def _checked_load(load: Method, memory: Memory) -> Method:
    def create_masked_load(
        self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **k: Any
    ) -> Any:
        wrong = memory.outside(ptrs.data, mask.data, _size(ptrs))
        if wrong is not None:
            memory.read_outside()
            element = ptrs.get_element_ty()
            filling = np.zeros((), _numpy(element)) if other is None else other.data
            other = interpreter.TensorHandle(
                np.where(wrong, _garbage(element), filling).astype(_numpy(element)), element
            )
            mask = interpreter.TensorHandle(np.asarray(mask.data, np.bool_) & ~wrong, tl.int1)
        return load(self, ptrs, mask, other, *rest, **k)

    return create_masked_load


def _checked_store(store: Method, memory: Memory) -> Method:
    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        _forbid(memory.outside(ptrs.data, mask.data, _size(ptrs)))
        return store(self, ptrs, value, mask, *rest)

    return create_masked_store


def _checked_update(update: Method, memory: Memory) -> Method:
    def create_atomic_rmw(self: Any, op: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
        _forbid(memory.outside(ptr.data, mask.data, _size(ptr)))
        return update(self, op, ptr, value, mask, *rest)

    return create_atomic_rmw


def _checked_swap(swap: Method, memory: Memory) -> Method:
    def create_atomic_cas(self: Any, ptr: Any, *rest: Any) -> Any:
        everywhere = np.ones(ptr.data.shape, np.bool_)
        _forbid(memory.outside(ptr.data, everywhere, _size(ptr)))
        return swap(self, ptr, *rest)

    return create_atomic_cas


def _forbid(wrong: Mask | None) -> None:
    if wrong is not None:
        count = int(wrong.sum())
        raise OutOfBounds(f"a kernel wrote {count} element(s) outside its tensors")


def _size(pointers: Any) -> int:
    return max(1, int(pointers.get_element_ty().primitive_bitwidth) // 8)


def _numpy(element: Any) -> Any:
    return interpreter._get_np_dtype(element)


def _garbage(element: Any) -> Any:
    dtype = _numpy(element)
    return np.frombuffer(b"\xff" * dtype.itemsize, dtype)[0]


def _live_tensors() -> Iterator[torch.Tensor]:
    # Kernels may follow addresses that they read from memory, to tensors that are no arguments.
    kinds = (torch.Tensor, torch.nn.Parameter)
    return (thing for thing in gc.get_objects() if type(thing) in kinds)
