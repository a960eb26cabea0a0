"""What a task is: its signature, its cases, what counts as equal and what host code may do."""

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from kernels.contract import limits
from kernels.contract._model import Identifier, Model, Name, ShortText
from kernels.contract.device import Rate
from kernels.contract.dtype import DType
from kernels.contract.expression import evaluate

Value = int | DType
"""A case gives each of its parameters a size or an element type."""


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


class Parameter(Model):
    """One argument of the entry function."""

    name: Identifier
    """Its name in the statement."""
    shape: tuple[str, ...] | None = None
    """Sizes as expressions over the case's parameters; None for a Python number."""
    dtype: str = "dtype"
    """An element type, or the name of the case's parameter that holds one; unused for a number."""
    value: str | float | None = None
    """Of a Python number: the expression or constant that is passed."""
    host_visible: bool = False
    """Whether host code may read the values of this input: small, of integers, and the same in
    every run of a case (docs/decisions/0009-host-visible-inputs.md)."""

    @model_validator(mode="after")
    def _tensor_or_number(self) -> Self:
        if (self.shape is None) == (self.value is None):
            raise ValueError(f"{self.name}: give either a shape (tensor) or a value (number)")
        if self.host_visible and self.shape is None:
            raise ValueError(f"{self.name}: host code sees every number, leave host_visible out")
        return self


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

    @property
    def numel(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of the buffer that the tensor needs, its offset included."""
        if self.numel == 0:
            return 0
        last = sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
        return (self.offset + last + 1) * self.dtype.itemsize


class NumberSpec(Model):
    """A Python number that a case passes."""

    name: Identifier
    value: int | float


class Case(Model):
    """One set of sizes and element types."""

    name: Name
    kind: Literal["test", "benchmark"]
    """`test` cases check; `benchmark` cases also count."""
    values: dict[Identifier, Value]
    """Value of each parameter of the task."""
    layouts: dict[Identifier, Layout] = {}
    """Inputs that do not lie row-major."""
    interpreter: bool | None = None
    """Whether the check without a GPU uses it; by default the test cases are."""
    hidden: bool = False
    """Not shown to participants."""

    @property
    def interpreted(self) -> bool:
        """Whether the check without a GPU runs this case."""
        return self.kind == "test" if self.interpreter is None else self.interpreter

    @property
    def sizes(self) -> dict[str, int]:
        """Names that expressions may use: sizes, and `<name>_bytes` for each element type."""
        sizes: dict[str, int] = {}
        for name, value in self.values.items():
            if isinstance(value, DType):
                sizes[f"{name}_bytes"] = value.itemsize
            else:
                sizes[name] = value
        return sizes


class Cost(Model):
    """How the work of a case is counted; by the conventions of the field."""

    flops: str = "0"
    """FLOPs of one call."""
    bytes: str
    """Fewest bytes one call must move: each input read once, each output written once."""
    rate: Rate = "tensor16"
    """The arithmetic unit that bounds it."""


class Tolerance(Model):
    """The equality rule's numbers; the rule itself is in docs/correctness.md."""

    frobenius_ratio: float = Field(1.5, ge=1, le=100)
    """Allowed relative Frobenius error, as a multiple of torch's in the same element type."""
    ulps: float = Field(4.0, ge=0, le=1000)
    """Elementwise bound, in units u of the output's element type times |reference|."""
    violations: float = Field(0.0, ge=0, le=0.05)
    """Share of elements that may exceed the elementwise bound."""


class Permissions(Model):
    """What host code may do beyond launching kernels and moving data."""

    finishing: bool = False
    """Small arithmetic on partial results: sums, means, extremes and the four operations."""
    atomics: bool = False
    """Results may differ in the last bits between runs."""
    in_place: bool = False
    """Inputs may be overwritten."""


class TimeLimits(Model):
    """Wall-clock limits, seconds."""

    build: float = Field(60.0, gt=0, le=600)
    interpret: float = Field(30.0, gt=0, le=600)
    measure: float = Field(60.0, gt=0, le=600)


class Task(Model):
    """A problem, as its task.toml states it."""

    name: Name
    title: ShortText
    version: int = Field(1, ge=1)
    """Raised when a change makes old results incomparable."""
    summary: ShortText
    difficulty: Literal["easy", "medium", "hard"] = "easy"
    tags: tuple[Name, ...] = ()
    entry: Identifier = "solve"
    """Name of the function that a submission defines."""
    inputs: tuple[Parameter, ...] = Field(min_length=1)
    """In the order they are passed."""
    outputs: tuple[Parameter, ...] = Field(min_length=1)
    """In the order they are returned, or passed after the inputs."""
    style: Literal["return", "out"] = "return"
    """`return`: the entry function returns the outputs. `out`: it gets them as further arguments,
    contiguous and not initialised, and writes into them; what it returns does not matter."""
    cases: tuple[Case, ...] = Field(min_length=1, max_length=limits.CASES)
    cost: Cost
    tolerance: Tolerance = Tolerance()
    permissions: Permissions = Permissions()
    distributions: tuple[Distribution, ...] = Field(tuple(Distribution), min_length=1)
    limits: TimeLimits = TimeLimits()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [case.name for case in self.cases]
        if len(set(names)) != len(names):
            raise ValueError(f"task {self.name}: two cases share a name")
        if not any(case.kind == "benchmark" for case in self.cases):
            raise ValueError(f"task {self.name}: no benchmark case, so nothing would count")
        if any(parameter.host_visible for parameter in self.outputs):
            raise ValueError(f"task {self.name}: only inputs can be host_visible")
        for case in self.cases:
            self.tensors(case)
            for spec in self.host_visible(case):
                _check_host_visible(case, spec)
            self.flops(case)
            self.bytes(case)
        return self

    def case(self, name: str) -> Case:
        """The case of that name; KeyError otherwise."""
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(f"task {self.name} has no case {name!r}")

    def arguments(self, case: Case) -> tuple[TensorSpec | NumberSpec, ...]:
        """What the entry function gets in a case, in order, before any outputs to write into."""
        return tuple(_argument(parameter, case) for parameter in self.inputs)

    def results(self, case: Case) -> tuple[TensorSpec, ...]:
        """What the entry function must return, or write into, in a case, in order."""
        return tuple(_tensor(parameter, case, Layout.CONTIGUOUS) for parameter in self.outputs)

    def tensors(self, case: Case) -> tuple[TensorSpec, ...]:
        """All input tensors, then all output tensors."""
        inputs = [spec for spec in self.arguments(case) if isinstance(spec, TensorSpec)]
        return (*inputs, *self.results(case))

    def host_visible(self, case: Case) -> tuple[TensorSpec, ...]:
        """The input tensors whose values host code may read, in order."""
        return tuple(spec for spec in self.tensors(case) if spec.host_visible)

    def flops(self, case: Case) -> int:
        """FLOPs that one call of a case counts for."""
        return evaluate(self.cost.flops, case.sizes)

    def bytes(self, case: Case) -> int:
        """Fewest bytes that one call of a case must move."""
        return evaluate(self.cost.bytes, case.sizes)


def _check_host_visible(case: Case, spec: TensorSpec) -> None:
    if spec.dtype.is_float or spec.dtype is DType.BOOL:
        raise ValueError(f"case {case.name}: {spec.name} is host_visible and not of integers")
    if spec.numel > limits.HOST_VISIBLE_ELEMENTS:
        raise ValueError(
            f"case {case.name}: {spec.name} is host_visible and has more than "
            f"{limits.HOST_VISIBLE_ELEMENTS} elements"
        )


def _argument(parameter: Parameter, case: Case) -> TensorSpec | NumberSpec:
    if parameter.shape is not None:
        return _tensor(parameter, case, case.layouts.get(parameter.name, Layout.CONTIGUOUS))
    value = parameter.value
    if isinstance(value, str):
        value = evaluate(value, case.sizes)
    assert value is not None  # Parameter's validator
    return NumberSpec(name=parameter.name, value=value)


def _tensor(parameter: Parameter, case: Case, layout: Layout) -> TensorSpec:
    shape = tuple(evaluate(size, case.sizes) for size in parameter.shape or ())
    if any(size < 0 for size in shape):
        raise ValueError(f"case {case.name}: {parameter.name} has a negative size {shape}")
    dtype = DType(str(case.values.get(parameter.dtype, parameter.dtype)))
    strides, offset = _strides(shape, layout)
    return TensorSpec(
        name=parameter.name,
        shape=shape,
        strides=strides,
        offset=offset,
        dtype=dtype,
        host_visible=parameter.host_visible,
    )


def _strides(shape: tuple[int, ...], layout: Layout) -> tuple[tuple[int, ...], int]:
    if layout is Layout.TRANSPOSED:
        stored, _ = _strides((*shape[:-2], shape[-1], shape[-2]), Layout.CONTIGUOUS)
        return (*stored[:-2], stored[-1], stored[-2]), 0
    padding = 8 if layout is Layout.PADDED else 0
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size + padding, 1)
        padding = 0
    return tuple(reversed(strides)), int(layout is Layout.OFFSET)
