"""Tensors and numbers as a case passes them: how they lie, what they hold, when they are equal."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pydantic import Field

from kernels.contract import limits
from kernels.contract._model import Identifier, Model
from kernels.contract.dtype import DType


class Layout(StrEnum):
    """How an input lies in memory."""

    CONTIGUOUS = "contiguous"
    """Row-major."""
    TRANSPOSED = "transposed"
    """The last two dimensions are stored the other way round."""
    PADDED = "padded"
    """Rows are 8 elements further apart than they are long."""
    OFFSET = "offset"
    """Row-major, one element after an aligned address."""


class Distribution(StrEnum):
    """What values the inputs of one run are drawn from."""

    NORMAL = "normal"
    """Standard normal."""
    OFFSET = "offset"
    """Normal around a large common offset, where sums cancel."""
    TINY = "tiny"
    """Normal, scaled to 1e-3."""
    OUTLIERS = "outliers"
    """Normal with a few values 50 times as large."""
    TIES = "ties"
    """Small integers, many of them equal."""
    CONSTANT_ROWS = "constant_rows"
    """Every row one value; some rows zero."""


class Tolerance(Model):
    """The equality rule's numbers; the rule itself is in docs/correctness.md."""

    frobenius_ratio: float = Field(1.5, ge=1, le=100)
    """Allowed relative Frobenius error, as a multiple of torch's in the same element type."""
    ulps: float = Field(4.0, ge=0, le=1000)
    """Elementwise bound, in units u of the output's element type times |reference|."""
    violations: float = Field(0.0, ge=0, le=0.05)
    """Share of elements that may exceed the elementwise bound."""


class TensorSpec(Model):
    """A tensor of one case: everything that host code may know about it."""

    name: Identifier
    shape: tuple[int, ...] = Field(max_length=limits.RANK)
    strides: tuple[int, ...]
    """In elements."""
    offset: int = Field(ge=0)
    """First element, counted from the start of the buffer, in elements."""
    dtype: DType
    host_visible: bool = False
    """Whether host code may read its values."""
    group: Identifier | None = None
    """The list it is passed in, as the next item; None if it is passed by itself."""
    low: int | None = None
    """Least and largest value of an integer input, where the task bounds them."""
    high: int | None = None
    distribution: Distribution | None = None
    """What it is always drawn from; None if that changes from run to run."""
    tolerance: Tolerance | None = None
    """Of an output: when it counts as equal, if not by the task's own numbers."""

    @property
    def numel(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def reach(self) -> int:
        """Elements of the buffer that the tensor needs, its offset and gaps included."""
        if self.numel == 0:
            return 0
        last = sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
        return self.offset + last + 1

    @property
    def nbytes(self) -> int:
        """Bytes of the buffer that the tensor needs, its offset and gaps included."""
        return self.reach * self.dtype.itemsize


class NumberSpec(Model):
    """A Python number that a case passes."""

    name: Identifier
    value: int | float


def nested(specs: Sequence[TensorSpec | NumberSpec], values: Sequence[Any]) -> list[Any]:
    """Values of specifications as the entry function gets them: lists where the task has lists."""
    arguments: list[Any] = []
    last: str | None = None
    for spec, value in zip(specs, values, strict=True):
        group = spec.group if isinstance(spec, TensorSpec) else None
        if group is None:
            arguments.append(value)
        elif group == last:
            arguments[-1].append(value)
        else:
            arguments.append([value])
        last = group
    return arguments


def strides_of(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[int, ...], int]:
    """Strides and offset, in elements, of a tensor that lies so."""
    if layout is Layout.TRANSPOSED:
        stored, _ = strides_of((*shape[:-2], shape[-1], shape[-2]), Layout.CONTIGUOUS)
        return (*stored[:-2], stored[-1], stored[-2]), 0
    padding = 8 if layout is Layout.PADDED else 0
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size + padding, 1)
        padding = 0
    return tuple(reversed(strides)), int(layout is Layout.OFFSET)
