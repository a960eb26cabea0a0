"""Kernel arguments as a plan holds them, following Triton's own order and types."""

from collections.abc import Iterator
from typing import Any, get_args

import torch

from kernels.contract import FloatArgument, IntegerArgument, PointerArgument, Real
from kernels.contract.steps import Argument, FloatType, IntegerType
from workers.build import descriptors
from workers.build.memory import Allocation
from workers.build.recorder import Recorder
from workers.build.tensors import on_device
from workers.facade import shapes

_INTEGERS = get_args(IntegerType)
_FLOATS = get_args(FloatType)


def encode(
    recorder: Recorder, signature: tuple[Any, ...], values: tuple[Any, ...], metadata: Any
) -> tuple[Argument, ...]:
    """All arguments of a launch; constexprs vanish, tuples and descriptors are flattened."""
    layouts = iter(metadata.tensordesc_meta or ())
    arguments: list[Argument] = []
    for position, (kind, value) in enumerate(_flattened(signature, values)):
        if kind == "constexpr":
            continue
        if kind.startswith("tensordesc"):
            arguments += descriptors.encode(recorder, value, next(layouts))
        else:
            arguments.append(_argument(recorder, kind, value, position))
    return tuple(arguments)


def _flattened(signature: Any, values: Any) -> Iterator[tuple[str, Any]]:
    for kind, value in zip(signature, values, strict=False):
        if isinstance(kind, tuple | list):
            yield from _flattened(kind, value)
        else:
            yield kind, value


def _argument(recorder: Recorder, kind: str, value: Any, position: int) -> Argument:
    if kind.startswith("*"):
        return _pointer(recorder, value, position)
    if kind in _INTEGERS:
        return _integer(recorder, kind, int(value), position)
    if kind in _FLOATS:
        return FloatArgument(type=kind, value=Real.of(float(value)))
    raise recorder.refused(
        f"argument {position} has type {kind}, which a plan cannot hold",
        "pass tensors, numbers or triton.tools.tensor_descriptor.TensorDescriptor",
    )


def _integer(recorder: Recorder, kind: Any, value: int, position: int) -> Argument:
    place = recorder.memory.find(value) if kind in ("i64", "u64") else None
    if place is not None:
        return _place(recorder, place)
    if recorder.memory.is_difference(value):
        raise recorder.refused(
            f"argument {position} is how far two tensors lie apart, which is different on the GPU",
            "pass both tensors",
        )
    return IntegerArgument(type=kind, value=value)


def _pointer(recorder: Recorder, value: Any, position: int) -> Argument:
    if value is None:
        return PointerArgument(buffer=None)
    # triton.reinterpret wraps the tensor that it gives another element type.
    tensor = value if isinstance(value, torch.Tensor) else getattr(value, "base", None)
    if isinstance(tensor, torch.Tensor):
        return _address_of(recorder, tensor, position)
    address = value if isinstance(value, int) else int(value.data_ptr())
    if address == 0:
        return PointerArgument(buffer=None)
    place = recorder.memory.find(address)
    if place is None:
        raise recorder.refused(
            f"pointer argument {position} is the number {address:#x}, the address of no tensor",
            "pass the tensor itself",
        )
    return _place(recorder, place)


def _place(recorder: Recorder, place: tuple[Allocation, int]) -> PointerArgument:
    recorder.handed(place[0].index)
    return PointerArgument(buffer=place[0].index, offset=place[1])


def _address_of(recorder: Recorder, tensor: torch.Tensor, position: int) -> Argument:
    if not on_device(tensor):
        # Word for word what Triton's own launcher says; of a meta tensor it says no more.
        words = f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)"
        with torch._C.DisableTorchFunction():
            nowhere = shapes.is_shape(tensor)
        raise ValueError(f"{words}: it is on torch's meta device" if nowhere else words)
    recorder.launched(tensor)
    with torch._C.DisableTorchFunction():
        if tensor.numel() == 0:
            return PointerArgument(buffer=None)
        offset = int(tensor.storage_offset()) * tensor.element_size()
    return PointerArgument(buffer=recorder.memory.of(tensor).index, offset=offset)
