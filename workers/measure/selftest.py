"""Whether a task's reference and tolerance are fit to judge by. A program of its own:

reads {"task": ..., "reference": path, "seed": ...} and prints a list of what is wrong, both JSON.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.contract import Case, Distribution, DType, Task, TensorSpec
from workers.measure import inputs, mutants
from workers.measure.compare import compare
from workers.measure.reference import Expected, Reference, load

SIGNIFICAND = {DType.FLOAT64: 24, DType.FLOAT32: 11, DType.FLOAT16: 8, DType.BFLOAT16: 4}
"""Bits that the next lower precision keeps, by element type."""

_FEW = 16
"""Results with fewer elements may be equal by chance."""


@dataclass(frozen=True)
class _Draw:
    """One case on one distribution."""

    case: Case
    distribution: Distribution
    results: tuple[TensorSpec, ...]
    expected: tuple[Expected, ...]

    def accepted(self, task: Task, outputs: Sequence[Tensor]) -> list[bool]:
        """Of each output, whether the rule accepts it."""
        kind = self.distribution.value
        found = compare(self.results, outputs, self.expected, task.tolerance, kind)
        return [not comparison.reason for comparison in found]


def problems(task: Task, path: str, seed: int) -> list[str]:
    """What is wrong with a task's reference or tolerance, a sentence each; from small cases."""
    reference = load(path)
    if reference.accept is not None:
        return []
    found: list[str] = []
    told: set[str] = set()
    for case in task.cases:
        for distribution in task.distributions if case.interpreted else ():
            draw = _draw(task, case, distribution, reference, seed)
            odd = list(_odd(task, draw))
            if distribution is task.distributions[0]:
                odd += _unsteady(draw, _draw(task, case, distribution, reference, seed))
                told |= _tells_precision(task, draw)
            found += [f"case {case.name}, {distribution.value}: {text}" for text in odd]
    small = [case for case in task.cases if case.interpreted]
    floats = {_output(s) for case in small for s in task.results(case) if _coarser(s)}
    found += [f"{name}: half the precision is accepted in every case" for name in floats - told]
    return found + list(mutants.unnoticed(task, reference, seed))


def rounded(values: Tensor, bits: int) -> Tensor:
    """Values with that many bits of significand, in float64."""
    fraction, exponent = torch.frexp(values.double())
    return torch.ldexp(torch.round(fraction * 2.0**bits) * 2.0**-bits, exponent.double())


def _draw(
    task: Task, case: Case, distribution: Distribution, reference: Reference, seed: int
) -> _Draw:
    made = inputs.make(task, case, distribution, 0, seed, reference)
    results = task.results(case)
    return _Draw(case, distribution, results, reference.expect(made.arguments, results))


def _unsteady(first: _Draw, second: _Draw) -> Iterator[str]:
    for spec, one, two in zip(first.results, first.expected, second.expected, strict=True):
        if not torch.equal(one.reference.nan_to_num(), two.reference.nan_to_num()):
            yield f"the reference of {spec.name} changes from call to call"


def _odd(task: Task, draw: _Draw) -> Iterator[str]:
    """What is wrong with the range or spread of results, or with what the rule makes of them."""
    exact = [e.reference.to(e.baseline.dtype) for e in draw.expected]
    zeros = [torch.zeros_like(e.baseline) for e in draw.expected]
    judged = zip(
        draw.results, draw.expected, draw.accepted(task, exact), draw.accepted(task, zeros),
        strict=True,
    )  # fmt: skip
    for spec, expected, exact_right, zeros_right in judged:
        values = expected.reference.double()
        if not exact_right:
            yield f"the exact {spec.name}, once rounded, is refused"
        if zeros_right and bool(values.any()):
            yield f"zeros are accepted for {spec.name}"
        if values.numel() and float(values.isfinite().double().mean()) < 0.5:
            yield f"most of {spec.name} is not finite"
        normal = draw.distribution is Distribution.NORMAL
        if normal and values.numel() >= _FEW and bool((values == values.view(-1)[0]).all()):
            yield f"all elements of {spec.name} are alike"


def _tells_precision(task: Task, draw: _Draw) -> set[str]:
    """Results of which the rule refuses the next lower precision."""
    coarse = [
        rounded(e.reference, SIGNIFICAND[spec.dtype]).to(e.baseline.dtype)
        if _coarser(spec)
        else e.reference.to(e.baseline.dtype)
        for spec, e in zip(draw.results, draw.expected, strict=True)
    ]
    judged = zip(draw.results, draw.accepted(task, coarse), strict=True)
    return {_output(spec) for spec, right in judged if not right}


def _output(spec: TensorSpec) -> str:
    return spec.group or spec.name


def _coarser(spec: TensorSpec) -> bool:
    return spec.dtype in SIGNIFICAND and spec.numel > 0


def main() -> None:
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    task = Task.model_validate(request["task"])
    json.dump(problems(task, request["reference"], request["seed"]), sys.stdout)


if __name__ == "__main__":
    main()
