"""Submissions that ignore an input, or the end of one: some case must show each of them."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from kernels.contract import Case, Distribution, NumberSpec, Task
from workers.measure import inputs
from workers.measure.compare import compare
from workers.measure.reference import Argument, Expected, Reference, ReferenceBroken

_Mutants = dict[str, tuple[int, Callable[[Argument], Argument]]]
"""By what they do: the place of an argument, and what stands in for it."""


def unnoticed(task: Task, reference: Reference, seed: int) -> Iterator[str]:
    """What submissions may ignore without being wrong in any interpreted case."""
    living = dict(_mutants(task))
    for case in task.cases:
        for distribution in task.distributions if case.interpreted and living else ():
            living = _survivors(living, task, case, distribution, reference, seed)
    for what in living:
        yield f"no case tells when a submission {what}"


def _mutants(task: Task) -> Iterator[tuple[str, tuple[int, Callable[[Argument], Argument]]]]:
    for place, parameter in enumerate(task.inputs):
        if parameter.shape is None:
            for number in _numbers(task, parameter.name):
                yield f"takes {number} for {parameter.name}", (place, partial(_constant, number))
            continue
        yield f"takes zeros for {parameter.name}", (place, partial(_each, torch.zeros_like))
        yield f"takes ones for {parameter.name}", (place, partial(_each, _ones))
        for dim in range(len(parameter.shape)):
            what = f"ignores the end of dimension {dim} of {parameter.name}"
            yield what, (place, partial(_each, partial(_without_end, dim)))


def _numbers(task: Task, name: str) -> set[int | float]:
    """The values of a number, if cases differ in it."""
    specs = (spec for case in task.cases for spec in task.arguments(case))
    values = {spec.value for spec in specs if isinstance(spec, NumberSpec) and spec.name == name}
    return values if len(values) > 1 else set()


def _survivors(
    mutants: _Mutants, task: Task, case: Case, distribution: Distribution,
    reference: Reference, seed: int,
) -> _Mutants:  # fmt: skip
    arguments = inputs.make(task, case, distribution, 0, seed, reference).arguments
    results = task.results(case)
    expected = reference.expect(arguments, results)

    def survives(place: int, change: Callable[[Argument], Argument]) -> bool:
        changed = (*arguments[:place], change(arguments[place]), *arguments[place + 1 :])
        try:
            outputs = _rounded(reference.expect(changed, results))
        except ReferenceBroken:
            return False  # results of another shape
        found = compare(results, outputs, expected, task.tolerance, distribution.value)
        return not any(comparison.reason for comparison in found)

    return {what: mutant for what, mutant in mutants.items() if survives(*mutant)}


def _rounded(expected: tuple[Expected, ...]) -> list[Tensor]:
    return [each.reference.to(each.baseline.dtype) for each in expected]


def _constant(number: float, _: Argument) -> Argument:
    return number


def _each(change: Callable[[Tensor], Tensor], value: Argument) -> Argument:
    if isinstance(value, list):
        return [change(tensor) for tensor in value]
    assert isinstance(value, Tensor)
    return change(value)


def _ones(tensor: Tensor) -> Tensor:
    """Ones; of integers, which may be indices, zeros."""
    return torch.full_like(tensor, tensor.is_floating_point())


def _without_end(dim: int, tensor: Tensor) -> Tensor:
    changed = tensor.clone()
    if changed.numel():
        changed.select(dim, -1).zero_()
    return changed
