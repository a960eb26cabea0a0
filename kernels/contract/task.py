"""What a task is: its signature, its cases, what counts as equal and what host code may do."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kernels.contract import limits
from kernels.contract._model import Identifier, Model, Name, ShortText
from kernels.contract.device import Rate
from kernels.contract.dtype import DType
from kernels.contract.expression import evaluate
from kernels.contract.tensor import (
    Distribution,
    Layout,
    NumberSpec,
    TensorSpec,
    Tolerance,
    strides_of,
)

Sizes = Annotated[tuple[int, ...], Field(min_length=1, max_length=256)]
Value = int | float | DType | Sizes
"""A case gives each of its parameters a size, a number that is passed on, an element type, or the
sizes of each tensor of a list."""


class Parameter(Model):
    """One argument of the entry function."""

    name: Identifier
    """Its name in the statement."""
    shape: tuple[str, ...] | None = None
    """Sizes as expressions over the case's parameters; None for a Python number."""
    dtype: str = "dtype"
    """An element type, or the name of the case's parameter that holds one; unused for a number."""
    value: str | float | None = None
    """Of a Python number: the expression, the name of a case's value, or the constant passed."""
    host_visible: bool = False
    """Whether host code may read the values of this input: small, of integers, and the same in
    every run of a case (docs/decisions/0009-host-visible-inputs.md)."""
    each: Identifier | None = None
    """Of a list of tensors: the case's list of sizes that has one entry for each of them."""
    low: str | None = None
    """Of integers: the least value, an expression; the distributions stay within the range."""
    high: str | None = None
    """Of integers: the largest value."""
    distribution: Distribution | None = None
    """What this input is always drawn from, whatever the others are."""
    tolerance: Tolerance | None = None
    """Of an output: instead of the task's."""

    @model_validator(mode="after")
    def _tensor_or_number(self) -> Self:
        if (self.shape is None) == (self.value is None):
            raise ValueError(f"{self.name}: give either a shape (tensor) or a value (number)")
        if self.host_visible and self.shape is None:
            raise ValueError(f"{self.name}: host code sees every number, leave host_visible out")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.name}: give both low and high, or neither")
        return self


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
            elif isinstance(value, int):
                sizes[name] = value
        return sizes

    @property
    def items(self) -> tuple[dict[str, int], ...]:
        """Of each tensor of the lists in turn: its sizes, and those of the case; else just these.

        ValueError if two lists of sizes differ in length.
        """
        lists = {name: value for name, value in self.values.items() if isinstance(value, tuple)}
        if len({len(value) for value in lists.values()}) > 1:
            raise ValueError(f"case {self.name}: {' and '.join(lists)} differ in length")
        columns = zip(*lists.values(), strict=True) if lists else [()]
        return tuple(self.sizes | dict(zip(lists, column, strict=True)) for column in columns)


class Cost(Model):
    """How the work of a case is counted; by the conventions of the field.

    In a case with lists the work of each item is counted, and added up.
    """

    flops: str = "0"
    """FLOPs of one call."""
    bytes: str
    """Fewest bytes one call must move: each input read once, each output written once."""
    rate: Rate = "tensor16"
    """The arithmetic unit that bounds it."""


class Permissions(Model):
    """What host code may do beyond launching kernels and moving data."""

    finishing: bool = False
    """Small arithmetic on partial results: sums, means, extremes and the four operations."""
    atomics: bool = False
    """Results may differ in the last bits between runs."""
    in_place: bool = False
    """Inputs may be overwritten."""


class TimeLimits(Model):
    """In seconds: of processor time, but for measuring."""

    build: float = Field(60.0, gt=0, le=600)
    interpret: float = Field(30.0, gt=0, le=600)
    measure: float = Field(60.0, gt=0, le=600)

    @property
    def build_wall(self) -> float:
        """After which a build, or compiling its kernels again, ends whatever it does."""
        return limits.PATIENCE * self.build

    @property
    def interpret_wall(self) -> float:
        """After which a run on the interpreter ends that waits instead of computing."""
        return 5 * self.interpret  # honest work takes several times as long on a busy machine


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
            for spec in self.tensors(case):
                _check_reach(case, spec)
            for spec in self.host_visible(case):
                _check_host_visible(case, spec)
            _check_cost(case, self.flops(case), self.bytes(case))
            _check_layouts(case, self.inputs)
        return self

    def case(self, name: str) -> Case:
        """The case of that name; KeyError otherwise."""
        for case in self.cases:
            if case.name == name:
                return case
        raise KeyError(f"task {self.name} has no case {name!r}")

    def arguments(self, case: Case) -> tuple[TensorSpec | NumberSpec, ...]:
        """What the entry function gets in a case, in order, before any outputs to write into.

        The tensors of a list stand one after the other; `nested` puts them into lists.
        """
        return tuple(spec for parameter in self.inputs for spec in _argument(parameter, case))

    def results(self, case: Case) -> tuple[TensorSpec, ...]:
        """What the entry function must return, or write into, in a case, in order."""
        return tuple(
            spec for output in self.outputs for spec in _tensors(output, case, Layout.CONTIGUOUS)
        )

    def tensors(self, case: Case) -> tuple[TensorSpec, ...]:
        """All input tensors, then all output tensors."""
        inputs = [spec for spec in self.arguments(case) if isinstance(spec, TensorSpec)]
        return (*inputs, *self.results(case))

    def host_visible(self, case: Case) -> tuple[TensorSpec, ...]:
        """The input tensors whose values host code may read, in order."""
        return tuple(spec for spec in self.tensors(case) if spec.host_visible)

    def flops(self, case: Case) -> int:
        """FLOPs that one call of a case counts for."""
        return sum(evaluate(self.cost.flops, sizes) for sizes in case.items)

    def bytes(self, case: Case) -> int:
        """Fewest bytes that one call of a case must move."""
        return sum(evaluate(self.cost.bytes, sizes) for sizes in case.items)


def _check_reach(case: Case, spec: TensorSpec) -> None:
    if spec.reach > limits.ELEMENTS:
        raise ValueError(
            f"case {case.name}: {spec.name} takes up {spec.reach} elements of memory; make it "
            f"smaller, it may take up 2**31-1"
        )


def _check_cost(case: Case, flops: int, moved: int) -> None:
    if min(flops, moved) < 0:
        raise ValueError(f"case {case.name}: costs {flops} FLOPs, {moved} bytes: not below 0")
    if case.kind == "benchmark" and flops == moved == 0:
        raise ValueError(f"case {case.name}: a benchmark must cost some FLOPs or bytes")


def _check_layouts(case: Case, inputs: tuple[Parameter, ...]) -> None:
    known = [parameter.name for parameter in inputs if parameter.shape is not None]
    for name in case.layouts:
        if name not in known:
            raise ValueError(
                f"case {case.name}: layouts: no input tensor {name}; there are {', '.join(known)}"
            )


def _check_host_visible(case: Case, spec: TensorSpec) -> None:
    if spec.dtype.is_float or spec.dtype is DType.BOOL:
        raise ValueError(f"case {case.name}: {spec.name} is host_visible and not of integers")
    if spec.numel > limits.HOST_VISIBLE_ELEMENTS:
        raise ValueError(
            f"case {case.name}: {spec.name} is host_visible and has more than "
            f"{limits.HOST_VISIBLE_ELEMENTS} elements"
        )


def _argument(parameter: Parameter, case: Case) -> Iterator[TensorSpec | NumberSpec]:
    if parameter.shape is not None:
        yield from _tensors(parameter, case, case.layouts.get(parameter.name, Layout.CONTIGUOUS))
        return
    value = parameter.value
    if isinstance(value, str):
        own = case.values.get(value)
        value = own if isinstance(own, float) else evaluate(value, case.sizes)
    assert value is not None  # Parameter's validator
    yield NumberSpec(name=parameter.name, value=value)


def _tensors(parameter: Parameter, case: Case, layout: Layout) -> Iterator[TensorSpec]:
    if parameter.each is None:
        yield _tensor(parameter, case, layout, case.sizes)
        return
    if not isinstance(case.values.get(parameter.each), tuple):
        raise ValueError(f"case {case.name}: {parameter.each} must be a list of sizes")
    for place, sizes in enumerate(case.items):
        spec = _tensor(parameter, case, layout, sizes)
        yield spec.model_copy(update={"name": f"{parameter.name}_{place}", "group": parameter.name})


def _tensor(parameter: Parameter, case: Case, layout: Layout, sizes: dict[str, int]) -> TensorSpec:
    shape = tuple(evaluate(size, sizes) for size in parameter.shape or ())
    if any(size < 0 for size in shape):
        raise ValueError(f"case {case.name}: {parameter.name} has a negative size {shape}")
    dtype = DType(str(case.values.get(parameter.dtype, parameter.dtype)))
    strides, offset = strides_of(shape, layout)
    low, high = (
        None if bound is None else evaluate(bound, sizes)
        for bound in (parameter.low, parameter.high)
    )
    if low is not None and high is not None and (dtype.is_float or low > high):
        raise ValueError(f"case {case.name}: {parameter.name} has no integers {low} to {high}")
    return TensorSpec(
        name=parameter.name,
        shape=shape,
        strides=strides,
        offset=offset,
        dtype=dtype,
        host_visible=parameter.host_visible,
        low=low,
        high=high,
        distribution=parameter.distribution,
        tolerance=parameter.tolerance,
    )
