"""Five runs of plain Python in place of kernels: each hazard shows as what it is."""

import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from kernels.contract import Buffer, DType, View
from workers.measure.memory import Memory
from workers.measure.repetition import Repetition, repeat

ELEMENTS = 64
BUFFERS = (
    Buffer(nbytes=4 * ELEMENTS, role="input", name="x"),
    Buffer(nbytes=4 * ELEMENTS, role="output"),
    Buffer(nbytes=4 * ELEMENTS, role="temporary"),
)
Kernel = Callable[[Tensor, Tensor, Tensor], object]
"""Gets x, y and a temporary."""


def runs(kernel: Kernel, repeats: int = 5) -> Repetition:
    """What repeated runs of a kernel show."""
    memory = Memory(BUFFERS, {}, 0, "cpu")
    x, y, temporary = (
        memory.tensor(
            View(buffer=index, offset=0, shape=(ELEMENTS,), strides=(1,), dtype=DType.FLOAT32)
        )
        for index in range(3)
    )
    values = torch.arange(ELEMENTS, dtype=torch.float32)
    image = memory.image({"x": values.view(torch.uint8)})
    return repeat(
        memory,
        image,
        (y,),
        lambda _: kernel(x, y, temporary),
        lambda: memory.damage(image),
        repeats,
        torch.Generator().manual_seed(1),
    )


def test_an_honest_kernel_gives_the_same_bits_and_leaves_all_else_alone() -> None:
    found = runs(lambda x, y, _: y.copy_(2 * x))
    assert (found.race, found.poisoned, found.damage) == (0, 0, None)
    assert torch.equal(found.outputs[0], 2 * torch.arange(ELEMENTS, dtype=torch.float32))


def test_a_race_shows_although_all_memory_is_the_same() -> None:
    order = random.Random(3)

    def sum_in_any_order(x: Tensor, y: Tensor, _: Tensor) -> None:
        places = list(range(ELEMENTS))
        order.shuffle(places)
        total = torch.zeros(())
        for place in places:
            total = total + x[place] / 7
        y.copy_(total)

    found = runs(sum_in_any_order)
    assert found.race > 0
    assert found.damage is None


@pytest.mark.parametrize("repeats", [2, 5])
def test_a_result_that_rests_on_unwritten_memory_shows_over_other_garbage(repeats: int) -> None:
    found = runs(lambda x, y, temporary: y.copy_(x + temporary.nan_to_num(0.0, 0.0, 0.0)), repeats)
    assert found.race == 0
    assert found.poisoned > 0


def test_a_result_that_is_not_written_everywhere_is_poison() -> None:
    found = runs(lambda x, y, _: y[:-1].copy_(x[:-1]))
    assert found.outputs[0][-1].isnan()
    assert found.poisoned > 0


def test_negative_zero_is_another_bit_pattern() -> None:
    signs = iter([0.0, -0.0, 0.0, 0.0, 0.0])
    assert runs(lambda _, y, __: y.fill_(next(signs))).race == 1


@pytest.mark.parametrize(
    ("side", "place"), [("after", 4 * ELEMENTS), ("after", 4 * ELEMENTS + 4096), ("before", -4)]
)
def test_a_stray_write_is_found_in_whichever_run_it_happens(side: str, place: int) -> None:
    runs_left = iter([False, False, False, True, False])

    def stray(x: Tensor, y: Tensor, _: Tensor) -> None:
        y.copy_(x)
        if next(runs_left):
            at = (y.storage_offset() * 4 + place) // 4
            torch.empty(0).set_(y.untyped_storage(), at, (1,), (1,)).fill_(1.0)

    damage = runs(stray).damage
    assert damage is not None
    assert (damage.kind, damage.buffer, damage.side) == ("guard", 1, side)


def test_a_changed_input_is_found() -> None:
    damage = runs(lambda x, y, _: (y.copy_(x), x[5].add_(1))).damage
    assert damage is not None
    assert (damage.kind, damage.buffer) == ("input", 0)
