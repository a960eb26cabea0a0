import struct

import pytest
import torch

from kernels.contract import Buffer, DType, Relocation, View
from workers.measure.memory import ALIGNMENT, GUARD_BYTES, NAN, Memory, lay_out

SHA = "a" * 64
TABLE = "b" * 64
BUFFERS = (
    Buffer(nbytes=100, role="input", name="x"),
    Buffer(nbytes=70, role="output"),
    Buffer(nbytes=33, role="input", name="w"),
    Buffer(nbytes=16, role="constant", content=SHA),
    Buffer(nbytes=0, role="temporary"),
    Buffer(
        nbytes=24,
        role="constant",
        content=TABLE,
        relocations=(Relocation(at=8, buffer=0, offset=4), Relocation(at=16, buffer=1, offset=0)),
    ),
    Buffer(nbytes=5000, role="temporary"),
)
INPUTS = {
    "x": torch.arange(100, dtype=torch.uint8),
    "w": torch.arange(33, dtype=torch.uint8) + 100,
}


@pytest.fixture
def memory() -> Memory:
    return Memory(BUFFERS, {SHA: bytes(range(16)), TABLE: b"12345678"}, 256, "cpu")


def image(memory: Memory) -> torch.Tensor:
    made = memory.image(INPUTS)
    memory.load(made)
    return made


def byte(memory: Memory, buffer: int, offset: int) -> torch.Tensor:
    """One byte at an offset from a buffer's start; it may lie outside the buffer."""
    return memory._bytes[memory.layout.places[buffer] + offset].view(1)


def content(memory: Memory, buffer: int) -> torch.Tensor:
    view = View(
        buffer=buffer, offset=0, shape=(BUFFERS[buffer].nbytes,), strides=(1,), dtype=DType.UINT8
    )
    return memory.tensor(view)


def test_every_buffer_is_aligned_and_has_room_on_both_sides() -> None:
    layout = lay_out(BUFFERS, 256)
    places = sorted(
        (layout.places[index], layout.places[index] + size)
        for index, size in enumerate([*(buffer.nbytes for buffer in BUFFERS), 256])
    )
    assert all(start % ALIGNMENT == 0 for start, _ in places)
    edges = [0, *(edge for place in places for edge in place), layout.nbytes]
    for before, after in zip(edges[::2], edges[1::2], strict=True):
        assert after - before >= GUARD_BYTES


def test_guards_and_buffers_cover_everything_once() -> None:
    layout = lay_out(BUFFERS, 256)
    covered = torch.zeros(layout.nbytes, dtype=torch.int32)
    for section in (layout.inputs, layout.constants, layout.volatile):
        for start, end in (*section.buffers.values(), *section.guards):
            covered[start:end] += 1
    assert (covered == 1).all()


def test_inputs_and_constants_are_in_place_and_the_rest_is_poisoned(memory: Memory) -> None:
    image(memory)
    assert torch.equal(content(memory, 0), INPUTS["x"])
    assert torch.equal(content(memory, 2), INPUTS["w"])
    assert content(memory, 3).tolist() == list(range(16))
    assert (content(memory, 1) == NAN).all()
    assert (content(memory, 6) == NAN).all()


def test_relocations_are_addresses_in_this_memory(memory: Memory) -> None:
    table = bytes(content(memory, 5).tolist())
    assert table[:8] == b"12345678"
    assert struct.unpack("<QQ", table[8:]) == (memory.address(0, 4), memory.address(1))
    assert content(memory, 0).data_ptr() == memory.address(0)


def test_a_view_keeps_offset_shape_and_strides(memory: Memory) -> None:
    view = View(buffer=6, offset=12, shape=(3, 5), strides=(20, 2), dtype=DType.FLOAT16)
    tensor = memory.tensor(view)
    assert tensor.data_ptr() == memory.address(6, 12)
    assert (tuple(tensor.shape), tensor.stride()) == ((3, 5), (20, 2))
    assert tensor.isnan().all()


def test_an_untouched_run_did_no_damage(memory: Memory) -> None:
    made = image(memory)
    content(memory, 1).fill_(3)
    content(memory, 6).fill_(4)
    assert memory.damage(made) is None
    for pattern in (0, 0x5A):
        memory.poison(pattern)
        assert memory.damage(made) is None
    memory.poison(7, torch.Generator().manual_seed(1))
    assert len(set(content(memory, 6).tolist())) > 50
    assert memory.damage(made) is None


@pytest.mark.parametrize("buffer", [0, 1, 2, 3, 5, 6])
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("distance", [0, 1000])
def test_one_byte_outside_any_buffer_is_damage(
    memory: Memory, buffer: int, side: str, distance: int
) -> None:
    made = image(memory)
    offset = -1 - distance if side == "before" else BUFFERS[buffer].nbytes + distance
    byte(memory, buffer, offset).fill_(0x77)
    damage = memory.damage(made, in_place=True)
    assert damage is not None
    assert (damage.kind, damage.buffer, damage.side, damage.count) == ("guard", buffer, side, 1)


def test_damage_is_forgotten_when_all_is_written_anew(memory: Memory) -> None:
    made = image(memory)
    for buffer in (0, 3, 6):
        byte(memory, buffer, -1).fill_(0x77)
    memory.load(made)
    memory.restore_constants()
    memory.poison(NAN)
    assert memory.damage(made) is None


def test_a_changed_input_is_damage_unless_it_may_change(memory: Memory) -> None:
    made = image(memory)
    byte(memory, 2, 32).fill_(0)
    damage = memory.damage(made)
    assert damage is not None
    assert (damage.kind, damage.buffer, damage.count) == ("input", 2, 1)
    assert memory.damage(made, in_place=True) is None


def test_only_constants_that_host_code_used_must_stay(memory: Memory) -> None:
    made = image(memory)
    byte(memory, 3, 5).fill_(0)
    assert memory.damage(made) is None
    damage = memory.damage(made, unchanged=(3,))
    assert damage is not None
    assert (damage.kind, damage.buffer) == ("constant", 3)


def test_scratch_is_aligned_inside_its_pool_and_reused(memory: Memory) -> None:
    start = memory.layout.places[len(BUFFERS)]
    base = memory.address(0) - memory.layout.places[0]
    first, second, third = (memory.take_scratch(100, 128) - base - start for _ in range(3))
    assert (first, second, third) == (0, 128, 0)
