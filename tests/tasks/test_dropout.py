"""Dropout's own rule: right masks pass whatever their seeds, and those that repeat do not."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.tasks.tasks import CATALOG
from workers.measure.reference import Reference, load

Draw = Callable[[Tensor, int], Tensor]
"""A number from 0 to 1 for each place, by a seed."""

CASES = ((10001, 0.5, 123), (10001, 0.5, 123 + 2**30), (5000, 0.1, 5), (5001, 0.9, 99))
LARGE = ((1 << 20, 0.5, 31), ((3 << 20) + 77, 0.1, 2026))
SEEDS = 100
BLOCK = 1024


@pytest.fixture
def rule() -> Reference:
    return fresh()


def fresh() -> Reference:
    """The rule, which remembers what it has seen of a submission, at its start."""
    return load(str(CATALOG["dropout"].reference))


def mersenne(place: Tensor, seed: int) -> Tensor:
    """Torch's own generator."""
    size, generator = int(place.max()) + 1, torch.Generator().manual_seed(seed)
    return torch.rand(size, generator=generator, dtype=torch.float64)[place]


def hashed(place: Tensor, seed: int) -> Tensor:
    """What a plain hash of 32 bits makes of a place."""
    return mixed(place ^ int(mixed(torch.tensor([seed])))) / 2**32


def mixed(word: Tensor) -> Tensor:
    """Shifts and products in turn, modulo 2^32."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x2C1B3C6D), (16, 1)):
        word = (word ^ (word >> shift)) * factor % 2**32
    return word


def rotated(place: Tensor, seed: int) -> Tensor:
    block, lane = place // BLOCK, place % BLOCK
    return mersenne(block // 8 * BLOCK + (lane + 37 * (block % 8)) % BLOCK, seed)


def opposite(place: Tensor, seed: int) -> Tensor:
    block = place // BLOCK
    found = mersenne(block // 2 * BLOCK + place % BLOCK, seed)
    return torch.where(block % 2 == 0, found, 1 - found)


def multiple(place: Tensor, seed: int) -> Tensor:
    return (place + 97 * seed) * 0x9E3779B1 % 2**32 / 2**32


def low_bits_of_seed(place: Tensor, seed: int) -> Tensor:
    return mersenne(place, seed & 0xFFFFF)


def shifted_by_seed(place: Tensor, seed: int) -> Tensor:
    return mersenne(place + seed % 1000, 1)


def repeated(place: Tensor, seed: int) -> Tensor:
    return mersenne(place % ((1 << 20) + 3), seed)


def refusal(rule: Reference, draw: Draw, size: int, p: float, seed: int) -> str:
    """What the rule says of the mask that such numbers make."""
    x = torch.ones(size)
    y = torch.where(draw(torch.arange(size), seed) < p, 0, x / (1 - p))
    return rule.refusal((x, p, seed), (y,))


@pytest.mark.parametrize("draw", [mersenne, hashed])
def test_independent_draws_pass(rule: Reference, draw: Draw) -> None:
    for number in range(SEEDS):
        one = fresh()
        cases = [(size, p, seed ^ number << 8) for size, p, seed in CASES]
        assert [refusal(one, draw, *case) for case in cases] == [""] * len(cases), number
    assert [refusal(rule, draw, *case) for case in LARGE] == ["", ""]


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (rotated, "goes along with the one"),
        (opposite, "a correlation of -0."),
        (multiple, "goes along with the one"),
        (low_bits_of_seed, "goes along with what seed 123 drops 0 places on"),
        (shifted_by_seed, "goes along with what seed 123 drops"),
    ],
)
def test_numbers_that_are_used_twice_are_refused(rule: Reference, draw: Draw, reason: str) -> None:
    found = [refusal(rule, draw, *case) for case in CASES]
    assert any(reason in text for text in found), found


def test_repetition_beyond_the_start_is_refused(rule: Reference) -> None:
    assert "goes along with the one" in refusal(rule, repeated, *LARGE[1])


def test_the_same_seed_drops_the_same_elements(rule: Reference) -> None:
    assert refusal(rule, mersenne, 1000, 0.5, 7) == ""
    assert refusal(rule, mersenne, 1000, 0.5, 7) == ""
    assert "in an earlier run" in refusal(rule, hashed, 1000, 0.5, 7)
