import ctypes
import math
import struct

import pytest

from kernels.contract import (
    FloatArgument,
    IntegerArgument,
    PointerArgument,
    Real,
    TensorMapArgument,
)
from kernels.contract.cubin import argument_bytes
from kernels.contract.steps import Argument
from workers.measure.parameters import ParameterBlock, TensorMapEncoding, pack, tensor_map


def address(buffer: int, offset: int) -> int:
    return 0x7000_0000_0000 + 0x1000 * buffer + offset


def encode(encoding: TensorMapEncoding) -> bytes:
    return struct.pack("<Q", encoding.address).ljust(128, b"\xee")


def integer(type_: str, value: int) -> IntegerArgument:
    return IntegerArgument.model_validate({"type": type_, "value": value})


def real(type_: str, value: float) -> FloatArgument:
    return FloatArgument.model_validate({"type": type_, "value": Real.of(value)})


def tma(**changes: object) -> TensorMapArgument:
    fields: dict[str, object] = {
        "buffer": 2,
        "offset": 32,
        "shape": (3, 100, 64),
        "strides": (6400, 64, 1),
        "box": (1, 128, 32),
        "element_type": 9,
        "element_bytes": 2,
        "swizzle": 2,
        **changes,
    }
    return TensorMapArgument.model_validate(fields)


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        (PointerArgument(buffer=3, offset=16), struct.pack("<Q", 0x7000_0000_3010)),
        (PointerArgument(buffer=None), bytes(8)),
        (PointerArgument(buffer=None, offset=4096), bytes(8)),
        (integer("i1", -1), b"\xff"),
        (integer("u1", 1), b"\x01"),
        (integer("i8", -2), b"\xfe"),
        (integer("u16", 65535), b"\xff\xff"),
        (integer("i32", -5), struct.pack("<i", -5)),
        (integer("u32", 2**32 - 1), b"\xff" * 4),
        (integer("i64", -(2**63)), struct.pack("<q", -(2**63))),
        (integer("u64", 2**64 - 1), b"\xff" * 8),
        (real("fp32", 0.1), struct.pack("<f", 0.1)),
        (real("f32", 1e300), struct.pack("<f", math.inf)),
        (real("fp64", 0.1), struct.pack("<d", 0.1)),
        (real("fp16", 0.1), struct.pack("<e", 0.1)),
        (real("fp16", 1e9), struct.pack("<e", math.inf)),
        (real("bf16", 1.0), b"\x80\x3f"),
        (real("bf16", 1.999), b"\xff\x3f"),
    ],
)
def test_an_argument_is_passed_in_the_width_of_its_type(argument: Argument, wanted: bytes) -> None:
    first, *_ = pack([argument], 0, address, encode)
    assert first == wanted
    assert len(first) == argument_bytes(argument)


def test_the_scratch_pointers_come_last() -> None:
    packed = pack([integer("i32", 1), tma()], 0xABCD00, address, encode)
    assert [len(parameter) for parameter in packed] == [4, 128, 8, 8]
    assert packed[2:] == [struct.pack("<Q", 0xABCD00), bytes(8)]
    assert packed[1][:8] == struct.pack("<Q", address(2, 32))


def test_a_tensor_map_is_described_from_its_innermost_dimension_in_bytes() -> None:
    encoding = tensor_map(tma(nan_fill=True), 0x1000)
    assert encoding == TensorMapEncoding(
        element_type=9,
        address=0x1000,
        sizes=(64, 100, 3),
        strides=(128, 12800),
        box=(32, 128, 1),
        swizzle=2,
        nan_fill=True,
    )


def test_a_tensor_map_of_one_dimension_still_has_a_stride() -> None:
    encoding = tensor_map(tma(shape=(64,), strides=(1,), box=(32,)), 0x1000)
    assert encoding.sizes == (64,)
    assert len(encoding.strides) == 1
    assert encoding.strides[0] % 16 == 0


def test_a_tensor_map_of_another_element_size_is_refused() -> None:
    with pytest.raises(ValueError, match="2 bytes"):
        tensor_map(tma(element_type=10), 0x1000)


def test_the_block_holds_every_parameter_aligned_for_tensor_maps() -> None:
    parameters = [b"\x01\x02", bytes(range(128)), b"12345678"]
    block = ParameterBlock(parameters)
    assert block.sizes == (2, 128, 8)
    pointers = (ctypes.c_void_p * 3).from_address(block.address)
    for pointer, parameter in zip(pointers, parameters, strict=True):
        assert pointer is not None
        assert pointer % 64 == 0
        assert ctypes.string_at(pointer, len(parameter)) == parameter
