"""Makes tl.dot of float32 as coarse on the interpreter as it is on the GPU."""

from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

_TF32_BITS = np.uint32(0xFFFFE000)
"""The tensor cores read the upper 19 bits of a float32."""


def install() -> None:
    """Have the interpreter of this process cut tl.dot's operands to TF32 where the GPU does."""
    dot = interpreter.InterpreterBuilder.create_dot

    def create_dot(self: Any, a: Any, b: Any, d: Any, precision: Any, *rest: Any) -> Any:
        if precision == interpreter._ir.INPUT_PRECISION.TF32:
            a, b = _cut(a), _cut(b)
        return dot(self, a, b, d, precision, *rest)

    interpreter.InterpreterBuilder.create_dot = create_dot


def _cut(operand: Any) -> Any:
    if operand.dtype.scalar != tl.float32:
        return operand
    bits = np.ascontiguousarray(operand.data).view(np.uint32) & _TF32_BITS
    return interpreter.TensorHandle(bits.view(np.float32), operand.dtype)
