"""Kernel parameters as bytes, laid out as Triton's cubins expect them."""

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from kernels.contract import (
    FloatArgument,
    IntegerArgument,
    PointerArgument,
    TensorMapArgument,
)
from kernels.contract.steps import Argument

TENSOR_MAP_BYTES = 128

_INTEGER_BYTES = {"1": 1, "8": 1, "16": 2, "32": 4, "64": 8}
_ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
"""By CUtensorMapDataType."""

_SLOT = 128
"""Every parameter starts at a multiple of it; tensor maps must."""


@dataclass(frozen=True)
class TensorMapEncoding:
    """Arguments of cuTensorMapEncodeTiled; dimensions from the innermost."""

    element_type: int
    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    """Bytes, of all dimensions but the innermost; never empty, for the driver wants a pointer."""
    box: tuple[int, ...]
    swizzle: int
    nan_fill: bool


class ParameterBlock:
    """Parameters in memory with the array of pointers that a launch takes."""

    def __init__(self, parameters: Sequence[bytes]) -> None:
        """Copy the parameters; they stay where they are as long as the block lives."""
        self.sizes = tuple(len(parameter) for parameter in parameters)
        self._memory = ctypes.create_string_buffer(_SLOT * (len(parameters) + 2))
        start = -(-ctypes.addressof(self._memory) // _SLOT) * _SLOT
        addresses = [start + _SLOT * index for index in range(len(parameters))]
        for address, parameter in zip(addresses, parameters, strict=True):
            ctypes.memmove(address, parameter, len(parameter))
        self._pointers = (ctypes.c_void_p * (len(parameters) + 1))(*addresses)

    @property
    def address(self) -> int:
        """Address of the array of pointers."""
        return ctypes.addressof(self._pointers)


def pack(
    arguments: Sequence[Argument],
    scratch: int,
    address: Callable[[int, int], int],
    encode: Callable[[TensorMapEncoding], bytes],
) -> list[bytes]:
    """The parameters of a launch in order; Triton's two scratch pointers come last.

    `address` gives the device address of a byte of a buffer, `encode` a tensor map's 128 bytes.
    """
    parameters = [_pack(argument, address, encode) for argument in arguments]
    return [*parameters, struct.pack("<Q", scratch), struct.pack("<Q", 0)]


def tensor_map(argument: TensorMapArgument, address: int) -> TensorMapEncoding:
    """What to encode for a tensor at an address; ValueError if its types disagree."""
    if _ELEMENT_BYTES[argument.element_type] != argument.element_bytes:
        raise ValueError(
            f"a tensor map's type {argument.element_type} does not have "
            f"{argument.element_bytes} bytes an element"
        )
    strides = tuple(step * argument.element_bytes for step in reversed(argument.strides[:-1]))
    return TensorMapEncoding(
        element_type=argument.element_type,
        address=address,
        sizes=tuple(reversed(argument.shape)),
        strides=strides or (16,),
        box=tuple(reversed(argument.box)),
        swizzle=argument.swizzle,
        nan_fill=argument.nan_fill,
    )


def _pack(
    argument: Argument,
    address: Callable[[int, int], int],
    encode: Callable[[TensorMapEncoding], bytes],
) -> bytes:
    match argument:
        case PointerArgument(buffer=None):
            return struct.pack("<Q", 0)
        case PointerArgument(buffer=int(buffer)):
            return struct.pack("<Q", address(buffer, argument.offset))
        case IntegerArgument():
            size = _INTEGER_BYTES[argument.type[1:]]
            mask = (1 << 8 * size) - 1
            return (argument.value & mask).to_bytes(size, "little")
        case FloatArgument():
            return _pack_float(argument.type, argument.value.value)
        case TensorMapArgument():
            place = address(argument.buffer, argument.offset)
            return encode(tensor_map(argument, place))
        case _:
            raise AssertionError(f"unknown argument {argument!r}")


def _pack_float(type_: str, value: float) -> bytes:
    match type_:
        case "fp64":
            return struct.pack("<d", value)
        case "fp16":
            half = torch.tensor(value, dtype=torch.float64).to(torch.float16)
            return struct.pack("<h", half.view(torch.int16).item())
        case "bf16":
            # Triton's launcher cuts float32 off, it does not round.
            return bytes(ctypes.c_float(value))[2:]
        case _:
            return bytes(ctypes.c_float(value))
