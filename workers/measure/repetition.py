"""The same inputs several times: whether the same bits come out, and nothing else is changed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workers.measure.memory import NAN, Damage, Memory

SAME_POISON = 3
"""Of the repeated runs, how many start from the same bytes: they can differ only by a race."""

_SLOW = 2.0
"""Seconds of two runs beyond which two are enough."""


@dataclass(frozen=True)
class Repetition:
    """What several runs on the same inputs showed."""

    outputs: tuple[Tensor, ...]
    """Of the first run, row-major; empty if a run did damage."""
    race: int = 0
    """Runs that differ from the first although nothing else did."""
    poisoned: int = 0
    """Runs that differ from the first after other bytes lay in unwritten memory."""
    damage: Damage | None = None


def repeat(
    memory: Memory,
    image: Tensor,
    outputs: Sequence[Tensor],
    run: Callable[[int], object],
    damage: Callable[[], Damage | None],
    repeats: int,
    noise: torch.Generator,
) -> Repetition:
    """Run so many times on the inputs of an image, over NaN at first and then over noise.

    `outputs` are views of the memory; `run` gets the number of the run and returns when it has
    ended; `damage` says what it changed and may not change.
    """
    first: tuple[Tensor, ...] = ()
    race = poisoned = 0
    alike = min(SAME_POISON, repeats - 1)
    started = time.monotonic()
    for number in range(repeats):
        if number == 2 and time.monotonic() - started > _SLOW:
            break
        memory.load(image)
        memory.restore_constants()
        memory.poison(NAN if number < alike else number, None if number < alike else noise)
        run(number)
        found = damage()
        if found is not None:
            return Repetition((), damage=found)
        if number == 0:
            first = copies(outputs)
        elif not all(map(_same_bits, first, outputs)):
            race += number < alike
            poisoned += number >= alike
    return Repetition(first, race, poisoned)


def copies(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Row-major copies."""
    return tuple(tensor.clone(memory_format=torch.contiguous_format) for tensor in tensors)


def _same_bits(left: Tensor, right: Tensor) -> bool:
    return torch.equal(_bits(left), _bits(right))


def _bits(tensor: Tensor) -> Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
