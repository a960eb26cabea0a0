"""Each buffer in an allocation of its own, as tools need it."""

import struct

import pytest
import torch

from kernels.contract import Buffer, DType, View
from kernels.contract.plan import Relocation
from workers.measure.allocations import Allocations

BLOB = b"\x01\x02\x03"
SHA = "0" * 64


@pytest.fixture
def memory() -> Allocations:
    buffers = (
        Buffer(nbytes=8, role="input", name="x"),
        Buffer(
            nbytes=16,
            role="constant",
            content=SHA,
            relocations=(Relocation(at=8, buffer=2, offset=4),),
        ),
        Buffer(nbytes=12, role="output"),
    )
    inputs = {"x": torch.arange(8, dtype=torch.uint8)}
    return Allocations(buffers, {SHA: BLOB}, inputs, "cpu")


def view(buffer: int, offset: int, count: int, dtype: DType = DType.UINT8) -> View:
    return View(buffer=buffer, offset=offset, shape=(count,), strides=(1,), dtype=dtype)


def test_inputs_hold_their_values(memory: Allocations) -> None:
    assert memory.tensor(view(0, 2, 3)).tolist() == [2, 3, 4]


def test_constants_hold_theirs_and_the_addresses_of_others(memory: Allocations) -> None:
    content = bytes(memory.tensor(view(1, 0, 16)).tolist())
    assert content[:8] == BLOB + bytes(5)
    assert struct.unpack("<Q", content[8:]) == (memory.address(2, 4),)


def test_what_is_not_written_is_nan(memory: Allocations) -> None:
    assert memory.tensor(view(2, 0, 3, DType.FLOAT32)).isnan().all()


def test_buffers_and_scratch_lie_apart(memory: Allocations) -> None:
    places = [memory.address(index) for index in range(3)]
    places.append(memory.take_scratch(64, 128))
    assert len(set(places)) == 4
