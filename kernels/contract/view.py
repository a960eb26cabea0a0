"""Views into a plan's buffers."""

from typing import Self

from pydantic import Field, model_validator

from kernels.contract import limits
from kernels.contract._model import Count, Model
from kernels.contract.dtype import DType


class View(Model):
    """A strided tensor inside one buffer; the plan checks that it stays inside."""

    buffer: int = Field(ge=0, lt=limits.BUFFERS)
    """Index into the case's buffers."""
    offset: Count
    """Bytes from the start of the buffer; a multiple of the element size."""
    shape: tuple[Count, ...] = Field(max_length=limits.RANK)
    strides: tuple[Count, ...] = Field(max_length=limits.RANK)
    """In elements; host code cannot make negative ones."""
    dtype: DType

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        if len(self.shape) != len(self.strides):
            raise ValueError("a view needs one stride per dimension")
        if self.offset % self.dtype.itemsize:
            raise ValueError("a view must start at a multiple of its element size")
        return self

    @property
    def numel(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def end(self) -> int:
        """First byte of the buffer that lies behind the view."""
        if self.numel == 0:
            return self.offset
        last = sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
        return self.offset + (last + 1) * self.dtype.itemsize
