"""The rule for "equal": a result against a reference in higher precision. See docs/correctness.md.

(a) A result is finite exactly where the reference, rounded to the result's type, is.
(b) Its relative Frobenius error is at most a multiple of torch's in the same type, or a floor, or
    what the task's slack comes to.
(c) Each element is within `ulps` units of |reference|, plus the task's slack.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from kernels.contract import DType, Error, Mismatch, TensorSpec, Tolerance
from workers.measure.reference import Argument, Expected, Reference, torch_dtype

_FLOOR = {
    DType.FLOAT64: 1e-14,
    DType.FLOAT32: 1e-6,
    DType.FLOAT16: 5e-4,
    DType.BFLOAT16: 4e-3,
}
"""Relative Frobenius errors that are always allowed: a few times pure output rounding."""

_FLOOR_UNITS = 2.05
"""The same in units u, for the types that the table leaves out."""

_TILES = 32


@dataclass(frozen=True)
class Comparison:
    """One result of one run, compared."""

    error: Error | None
    """None where the task's own rule judged."""
    mismatch: Mismatch | None
    """None if the result is right, or the task's own rule found it wrong."""
    reason: str
    """One sentence; empty if the result is right."""


def comparer(
    reference: Reference,
    arguments: Sequence[Argument],
    specs: Sequence[TensorSpec],
    tolerance: Tolerance,
    distribution: str,
) -> Callable[[Sequence[Tensor]], list[Comparison]]:
    """What holds the results of runs on these arguments against the reference.

    Where the task has a rule of its own, that accepts them.
    """
    if reference.accept is not None:
        return lambda results: [Comparison(None, None, reference.refusal(arguments, results)[:500])]
    yardsticks = [
        yardstick(spec, wanted, spec.tolerance or tolerance)
        for spec, wanted in zip(specs, reference.expect(arguments, specs), strict=True)
    ]
    return lambda results: [
        held_against.compare(got, distribution)
        for held_against, got in zip(yardsticks, results, strict=True)
    ]


def compare(
    specs: Sequence[TensorSpec],
    results: Sequence[Tensor],
    expected: Sequence[Expected],
    tolerance: Tolerance,
    distribution: str,
) -> list[Comparison]:
    """Compare each result of a run; shapes and dtypes must be those of the specs."""
    return [
        compare_tensor(spec, got, wanted, spec.tolerance or tolerance, distribution)
        for spec, got, wanted in zip(specs, results, expected, strict=True)
    ]


def compare_tensor(
    spec: TensorSpec, got: Tensor, expected: Expected, tolerance: Tolerance, distribution: str
) -> Comparison:
    """Compare one result of shape spec.shape and dtype spec.dtype."""
    return yardstick(spec, expected, tolerance).compare(got, distribution)


def yardstick(spec: TensorSpec, expected: Expected, tolerance: Tolerance) -> "Yardstick":
    """What results of all runs on the same inputs are held against."""
    return _Floats(spec, expected, tolerance) if spec.dtype.is_float else _Exact(spec, expected)


class Yardstick(Protocol):
    """One result of a task for one set of inputs."""

    def compare(self, got: Tensor, distribution: str) -> Comparison:
        """Compare the result of a run."""


@dataclass(frozen=True)
class _Exact:
    spec: TensorSpec
    expected: Expected

    def compare(self, got: Tensor, distribution: str) -> Comparison:
        return _compare_exactly(self.spec, got, self.expected, distribution)


class _Floats:
    """The rule for floating-point results. Large tensors are read as few times as can be."""

    def __init__(self, spec: TensorSpec, expected: Expected, tolerance: Tolerance) -> None:
        """What does not depend on the result, once."""
        self._spec = spec
        self._tolerance = tolerance
        self._reference = expected.reference.to(torch.float64)
        slack = None if expected.slack is None else expected.slack.to(torch.float64)
        self._bound = _bound(spec.dtype, self._reference, slack, tolerance)
        self._scale = _norm(self._reference)
        """Not finite if an element is not."""
        baseline = _difference(expected.baseline, self._reference)
        self._baseline = _relative(_norm(baseline), baseline, self._reference, self._scale)
        self._allowed = max(
            tolerance.frobenius_ratio * self._baseline,
            _floor(spec.dtype),
            0.0 if slack is None else _relative(_norm(slack), slack, self._reference, self._scale),
        )

    def compare(self, got: Tensor, distribution: str) -> Comparison:
        """Compare the result of a run."""
        spec, reference = self._spec, self._reference
        difference = _difference(got, reference)
        norm = _norm(difference)
        error = Error(
            output=spec.name,
            error=_relative(norm, difference, reference, self._scale),
            allowed=self._allowed,
            baseline=self._baseline,
        )
        outside = (difference.abs_() <= self._bound).logical_not_()
        undefined = 0
        if not math.isfinite(norm + self._scale):
            undefined = _judge_non_finite(spec.dtype, got.double(), reference, outside)
        count = int(outside.sum())
        if undefined:
            reason = f"{spec.name} is not finite, or is finite, where the reference is the opposite"
        elif count > int(self._tolerance.violations * spec.numel):
            reason = f"{spec.name} differs from the reference"
        elif error.error > error.allowed:
            reason = _frobenius_reason(spec, error)
        else:
            return Comparison(error, None, "")
        mismatch = _mismatch(spec, got.double(), reference, difference, outside, distribution)
        return Comparison(error, mismatch, _placed(reason, mismatch) if count else reason)


def largest_errors(comparisons: Sequence[Comparison]) -> tuple[Error, ...]:
    """Of each result the error that is the largest share of what its run allows."""
    errors: dict[str, Error] = {}
    for comparison in comparisons:
        error = comparison.error
        if error is None:
            continue
        known = errors.get(error.output)
        if known is None or error.error * known.allowed > known.error * error.allowed:
            errors[error.output] = error
    return tuple(errors.values())


def relative_error(result: Tensor, reference: Tensor) -> float:
    """||result - reference|| / ||reference|| over elements that are finite in both, in float64.

    Where the reference is all zero it is ||result|| itself.
    """
    difference = _difference(result, reference)
    return _relative(_norm(difference), difference, reference, _norm(reference))


def _difference(result: Tensor, reference: Tensor) -> Tensor:
    """In the reference's float64, without a wide copy of the result where torch can do so."""
    narrow = result.dtype.itemsize == 1  # torch does not mix float8 with other types
    return torch.sub(result.to(reference.dtype) if narrow else result, reference)


def _relative(error: float, difference: Tensor, reference: Tensor, scale: float) -> float:
    """The quotient of two norms, taken anew where an element is not finite."""
    if not math.isfinite(error + scale):
        finite = difference.isfinite() & reference.isfinite()
        error = _norm(torch.where(finite, difference, 0.0))
        scale = _norm(torch.where(finite, reference, 0.0))
    ratio = error / scale if scale > 0 else error
    return ratio if math.isfinite(ratio) else torch.finfo(torch.float64).max


def _norm(tensor: Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor))


def _bound(dtype: DType, reference: Tensor, slack: Tensor | None, tolerance: Tolerance) -> Tensor:
    """Allowed absolute error of each element."""
    units = tolerance.ulps * dtype.unit
    smallest = torch.finfo(torch_dtype(dtype)).smallest_normal
    # Kernels may flush float32's subnormals to zero, and bfloat16 has float32's range;
    # the subnormals of the narrow types are ordinary numbers to them, rounded to a fixed step.
    tiny = smallest if dtype in (DType.FLOAT32, DType.BFLOAT16) else units * smallest
    bound = reference.abs()
    bound = bound.mul_(units) if slack is None else torch.add(slack, bound, alpha=units)
    return bound.add_(tiny)


def _floor(dtype: DType) -> float:
    return _FLOOR.get(dtype, _FLOOR_UNITS * dtype.unit)


def _judge_non_finite(dtype: DType, result: Tensor, reference: Tensor, outside: Tensor) -> int:
    """Correct `outside` where a value is not finite; how many such places are wrong."""
    both_nan = result.isnan() & reference.isnan()
    # An infinity may come of rounding: right if the reference itself rounds to it, or nearly.
    largest = torch.finfo(torch_dtype(dtype)).max
    overflows = reference.abs() >= largest * (1 - 4 * dtype.unit)
    infinite = result.isinf() & overflows & (result.sign() == reference.sign())
    special = result.isfinite().logical_not_() | reference.isfinite().logical_not_()
    wrong = special & (both_nan | infinite).logical_not_()
    outside[special] = False
    outside |= wrong
    return int(wrong.sum())


def _compare_exactly(
    spec: TensorSpec, got: Tensor, expected: Expected, distribution: str
) -> Comparison:
    reference, slack = expected.reference, expected.slack
    difference = (got.to(torch.float64) - reference.to(torch.float64)).abs()
    outside = got != reference
    if slack is not None:
        outside &= difference > slack
    error = Error(
        output=spec.name,
        error=relative_error(got.to(torch.float64), reference.to(torch.float64)),
        allowed=0.0,
        baseline=0.0,
    )
    if not bool(outside.any()):
        return Comparison(error, None, "")
    mismatch = _mismatch(spec, got, reference, difference, outside, distribution)
    return Comparison(error, mismatch, _placed(f"{spec.name} differs", mismatch))


def _frobenius_reason(spec: TensorSpec, error: Error) -> str:
    return (
        f"{spec.name} as a whole is too far from the reference: relative error {error.error:.2e}, "
        f"allowed {error.allowed:.2e} (torch in {spec.dtype.value}: {error.baseline:.2e})"
    )


def _placed(reason: str, mismatch: Mismatch) -> str:
    return (
        f"{reason} in {mismatch.count} of {mismatch.total} elements, first at "
        f"{mismatch.first_index}: got {mismatch.first_got}, expected {mismatch.first_expected}"
    )[:500]


def _mismatch(
    spec: TensorSpec,
    got: Tensor,
    reference: Tensor,
    difference: Tensor,
    outside: Tensor,
    distribution: str,
) -> Mismatch:
    """Where a wrong result is wrong; with no element outside its bound, first is the worst."""
    count = int(outside.sum())
    worst = int(torch.where(outside, difference.nan_to_num(math.inf), 0.0).argmax())
    if not count:
        worst = int(difference.nan_to_num(0.0, posinf=0.0).argmax())
    first = int(outside.view(-1).to(torch.uint8).argmax()) if count else worst
    return Mismatch(
        output=spec.name,
        distribution=distribution,
        count=count,
        total=spec.numel,
        first_index=_index(first, spec.shape),
        first_got=_text(got, first),
        first_expected=_text(reference, first),
        worst_index=_index(worst, spec.shape),
        worst_got=_text(got, worst),
        worst_expected=_text(reference, worst),
        error_map=error_map(outside) if count else (),
    )


def error_map(outside: Tensor) -> tuple[tuple[int, ...], ...]:
    """Count a mask's marks over at most 32 x 32 equal tiles of its last two dimensions."""
    rows = outside.shape[-2] if outside.ndim > 1 else 1
    columns = outside.shape[-1] if outside.ndim else 1
    planes = outside.reshape(-1, rows, columns)
    tall, wide = -(-rows // _TILES), -(-columns // _TILES)
    down, across = -(-rows // tall), -(-columns // wide)
    margin = (0, across * wide - columns, 0, down * tall - rows)
    padded = torch.nn.functional.pad(planes, margin)
    tiles = padded.view(-1, down, tall, across, wide).sum(dim=(0, 2, 4))
    return tuple(tuple(int(n) for n in row) for row in tiles.tolist())


def _index(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def _text(values: Tensor, flat: int) -> str:
    value = values.reshape(-1)[flat].item()
    return f"{value:.9g}" if isinstance(value, float) else str(value)
