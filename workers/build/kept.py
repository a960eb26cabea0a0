"""What functions of host code keep in Python: where they may have put what they were told.

A hook, a heuristic or a grid function gets the configuration of a launch, and host code may go on
by what it remembers of it. Two snapshots differ where it remembers something else.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy
import torch
from triton.runtime.autotuner import Config
from triton.runtime.jit import KernelInterface
from triton.tools.tensor_descriptor import TensorDescriptor

from workers.build.source import FILE, MODULE
from workers.build.tensors import on_device

_PLAIN = (int, float, complex, str, bytes, type(None), torch.dtype, torch.device, torch.Size)
_MOST_OBJECTS = 2_000
_MOST_BYTES = 1 << 16


class Snapshot:
    """What can be reached from some functions, held so that no identity is used twice."""

    def __init__(self, functions: Iterable[object]) -> None:
        self._found: dict[int, tuple[object, tuple[object, ...]]] = {}
        module = sys.modules.get(MODULE)
        if module is not None:
            self._found[id(module)] = module, tuple(vars(module).values())
        self._found[id(os.environ)] = os.environ, tuple(os.environ.items())
        waiting = deque(functions)
        while waiting and len(self._found) < _MOST_OBJECTS:
            value = waiting.popleft()
            if isinstance(value, _PLAIN) or id(value) in self._found:
                continue
            parts = tuple(_parts(value))
            self._found[id(value)] = value, parts
            waiting += parts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot) or self._found.keys() != other._found.keys():
            return False
        return all(
            len(parts) == len(other._found[key][1])
            and all(map(_alike, parts, other._found[key][1]))
            for key, (_, parts) in self._found.items()
        )

    __hash__ = None  # type: ignore[assignment]


def _alike(one: object, other: object) -> bool:
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return isinstance(one, _PLAIN) and type(one) is type(other) and one == other


def _parts(value: Any) -> Iterator[object]:
    """What a value holds; nothing of what Triton and torch keep for themselves."""
    for kinds, parts in _KINDS:
        if isinstance(value, kinds):
            yield from parts(value)
            return
    yield from getattr(value, "__dict__", {}).values()
    yield type(value)


def _of_function(function: FunctionType) -> Iterator[object]:
    if function.__code__.co_filename != FILE:
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            yield None
    names = set(_names(function.__code__))
    yield from (v for name, v in list(function.__globals__.items()) if name in names)
    yield from (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from vars(function).values()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _of_class(kind: type) -> Iterator[object]:
    if kind.__module__ == MODULE:
        yield from list(vars(kind).values())


def _of_tensor(tensor: torch.Tensor) -> Iterator[object]:
    if not on_device(tensor):  # those have no values that host code could go on by
        yield tensor._version


def _of_array(array: "numpy.ndarray[Any, Any]") -> Iterator[object]:
    if array.nbytes <= _MOST_BYTES:
        yield array.tobytes()


def _of_kernel(kernel: KernelInterface[Any]) -> Iterator[object]:
    # Triton's own are containers, or change whatever host code does.
    yield from (v for k, v in vars(kernel).items() if isinstance(v, _PLAIN) and k != "bench_time")


def _nothing(_: object) -> Iterator[object]:
    return iter(())


_KINDS: tuple[tuple[Any, Callable[[Any], Iterable[object]]], ...] = (
    (Mapping, lambda mapping: [part for item in list(mapping.items()) for part in item]),
    ((list, tuple, set, frozenset, deque), list),
    (FunctionType, _of_function),
    (MethodType, lambda method: (method.__self__, method.__func__)),
    (partial, lambda call: (call.func, call.args, call.keywords)),
    (ModuleType, _nothing),
    (type, _of_class),
    (torch.Tensor, _of_tensor),
    (numpy.ndarray, _of_array),
    (KernelInterface, _of_kernel),
    ((Config, TensorDescriptor), _nothing),
)
