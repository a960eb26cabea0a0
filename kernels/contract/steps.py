"""The steps of a launch plan: kernel launches, allowed tensor operations, autotune choices."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from kernels.contract import limits
from kernels.contract._model import Count, Identifier, Model, Sha256, ShortText
from kernels.contract.dtype import DType
from kernels.contract.ops import KNOWN
from kernels.contract.view import View

_INTEGER_BITS = {
    "i1": (-1, 1), "u1": (0, 1), "i8": (-(2**7), 2**7 - 1), "u8": (0, 2**8 - 1),
    "i16": (-(2**15), 2**15 - 1), "u16": (0, 2**16 - 1), "i32": (-(2**31), 2**31 - 1),
    "u32": (0, 2**32 - 1), "i64": (-(2**63), 2**63 - 1), "u64": (0, 2**64 - 1),
}  # fmt: skip
IntegerType = Literal["i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
FloatType = Literal["fp16", "bf16", "fp32", "f32", "fp64"]
Line = Annotated[int, Field(ge=1, lt=2**31)]
"""Line of the submission, from 1."""


class Real(Model):
    """A floating-point number, exactly and without JSON's lack of infinities."""

    hex: Annotated[str, StringConstraints(max_length=64)]
    """As float.hex() writes it; also `inf`, `-inf`, `nan`."""

    @field_validator("hex")
    @classmethod
    def _is_float(cls, text: str) -> str:
        try:
            float.fromhex(text)
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is no hexadecimal float") from None
        return text

    @classmethod
    def of(cls, value: float) -> Self:
        """The exact form of a number."""
        return cls(hex=float(value).hex())

    @property
    def value(self) -> float:
        """The number."""
        return float.fromhex(self.hex)


class PointerArgument(Model):
    """An address inside a buffer, or null."""

    kind: Literal["pointer"] = "pointer"
    buffer: int | None = Field(ge=0, lt=limits.BUFFERS)
    """None is the null pointer."""
    offset: Count = 0
    """Bytes from the start of the buffer."""


class IntegerArgument(Model):
    """An integer, passed by value in the width of its type."""

    kind: Literal["integer"] = "integer"
    type: IntegerType
    value: int

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        low, high = _INTEGER_BITS[self.type]
        if not low <= self.value <= high:
            raise ValueError(f"{self.value} does not fit {self.type}")
        return self


class FloatArgument(Model):
    """A floating-point number, passed by value in the width of its type."""

    kind: Literal["float"] = "float"
    type: FloatType
    value: Real


class TensorMapArgument(Model):
    """A TMA descriptor, encoded by whoever launches; sizes and strides follow it as arguments."""

    kind: Literal["tensor_map"] = "tensor_map"
    buffer: int = Field(ge=0, lt=limits.BUFFERS)
    offset: Count
    """Bytes; a multiple of 16, as the hardware asks."""
    shape: tuple[Annotated[int, Field(gt=0, lt=2**31)], ...] = Field(min_length=1, max_length=5)
    strides: tuple[Annotated[int, Field(gt=0, lt=2**40)], ...] = Field(min_length=1, max_length=5)
    """In elements; the last is 1, the others multiples of 16 bytes."""
    box: tuple[Annotated[int, Field(gt=0, le=256)], ...] = Field(min_length=1, max_length=5)
    """Elements that one copy moves, per dimension."""
    element_type: int = Field(ge=0, le=12)
    """CUtensorMapDataType."""
    element_bytes: Literal[1, 2, 4, 8]
    swizzle: int = Field(ge=0, le=3)
    """CUtensorMapSwizzle: none, 32, 64 or 128 bytes."""
    nan_fill: bool = False
    """Whether elements outside the tensor read as NaN instead of zero."""

    @model_validator(mode="after")
    def _encodable(self) -> Self:
        if not len(self.shape) == len(self.strides) == len(self.box):
            raise ValueError("a tensor map needs one stride and one box size per dimension")
        if self.strides[-1] != 1:
            raise ValueError("the last dimension of a tensor map must be contiguous")
        if self.offset % 16 or any(s * self.element_bytes % 16 for s in self.strides[:-1]):
            raise ValueError("a tensor map's address and strides must be multiples of 16 bytes")
        return self

    @property
    def end(self) -> int:
        """First byte of the buffer behind the described tensor."""
        last = sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
        return self.offset + (last + 1) * self.element_bytes


Argument = Annotated[
    PointerArgument | IntegerArgument | FloatArgument | TensorMapArgument,
    Field(discriminator="kind"),
]


class Launch(Model):
    """One kernel launch; scratch pointers are added by whoever launches."""

    kind: Literal["launch"] = "launch"
    kernel: Sha256
    """Which of the plan's kernels."""
    grid: tuple[int, int, int]
    """Programs in x, y and z."""
    arguments: tuple[Argument, ...] = Field(max_length=limits.ARGUMENTS)
    line: Line | None = None

    @field_validator("grid")
    @classmethod
    def _launchable(cls, grid: tuple[int, int, int]) -> tuple[int, int, int]:
        x, y, z = grid
        if not (0 < x <= limits.GRID_X and 0 < y <= limits.GRID_YZ and 0 < z <= limits.GRID_YZ):
            raise ValueError(f"grid {grid} is outside the limits (2**31-1, 65535, 65535)")
        if math.prod(grid) > limits.GRID_PRODUCT:
            raise ValueError(f"grid {grid} has over 2**31-1 programs: Triton would not launch it")
        return grid


class ElementType(Model):
    """A dtype given to a tensor operation."""

    dtype: DType


OpScalar = bool | int | Real | ElementType | View | None
OpArgument = OpScalar | tuple[OpScalar, ...]


class TensorOp(Model):
    """One allowed torch operation, by its overload name, with its results' places."""

    kind: Literal["op"] = "op"
    op: str
    arguments: tuple[OpArgument, ...] = Field(max_length=16)
    keywords: dict[Identifier, OpArgument] = Field({}, max_length=16)
    outputs: tuple[View, ...] = Field(min_length=1, max_length=1)
    """Where the result goes; for an in-place operation, the view that is changed."""
    line: Line | None = None

    @field_validator("op")
    @classmethod
    def _allowed(cls, op: str) -> str:
        if op not in KNOWN:
            raise ValueError(f"{op[:80]!r} is not allowed in a plan")
        return op

    def views(self) -> list[View]:
        """Every view the operation reads or writes."""
        found = list(self.outputs)
        for argument in (*self.arguments, *self.keywords.values()):
            found += [a for a in (argument if isinstance(argument, tuple) else (argument,))
                      if isinstance(a, View)]  # fmt: skip
        return found


Action = Annotated[Launch | TensorOp, Field(discriminator="kind")]


class Alternative(Model):
    """One autotune configuration and what it would run."""

    config: ShortText
    """As Triton prints it."""
    steps: tuple[Action, ...] = Field(max_length=limits.STEPS)


class Dropped(Model):
    """An autotune configuration that cannot run, with Triton's reason."""

    config: ShortText
    reason: ShortText


class Choice(Model):
    """An autotuner's decision, left to whoever measures."""

    kind: Literal["choice"] = "choice"
    id: int = Field(ge=0, lt=limits.STEPS)
    """Choices with one id take one configuration (same tuner, same key)."""
    function: Identifier
    """Name of the tuned kernel function."""
    alternatives: tuple[Alternative, ...] = Field(min_length=1, max_length=limits.ALTERNATIVES)
    dropped: tuple[Dropped, ...] = Field((), max_length=limits.DROPPED)
    reset: tuple[View, ...] = Field((), max_length=limits.ARGUMENTS)
    """Tensors that are zeroed before each trial of a configuration."""
    restore: tuple[View, ...] = Field((), max_length=limits.ARGUMENTS)
    """Tensors that are restored after each trial of a configuration."""
    line: Line | None = None


Step = Annotated[Launch | TensorOp | Choice, Field(discriminator="kind")]
