"""Repairs bfloat16 in Triton's interpreter.

It keeps bfloat16 as raw 16-bit patterns and does integer arithmetic on them. Here such values
are kept as float32 that is rounded to bfloat16 after every operation, which for one operation
on two bfloat16 numbers is exactly what the hardware gives; patterns exist in memory only.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import triton.language as tl
from triton.runtime import interpreter

from workers.interpret.faults import Unsupported

Array = npt.NDArray[Any]

_PATTERN = np.dtype(np.uint16)
_VALUE = np.dtype(np.float32)


def rounded(values: Array) -> Array:
    """Float32 values rounded to the nearest bfloat16, ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    kept = (bits + np.uint32(0x7FFF) + even) & np.uint32(0xFFFF0000)
    result = np.where(np.isnan(values), np.float32(np.nan), kept.view(np.float32))
    return result.reshape(values.shape)


def truncated(values: Array) -> Array:
    """Float32 values rounded towards zero to bfloat16."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).reshape(values.shape)


def to_patterns(values: Array) -> Array:
    """The 16-bit patterns of bfloat16 values."""
    bits = np.ascontiguousarray(rounded(values.astype(np.float32))).view(np.uint32)
    return (bits >> np.uint32(16)).astype(np.uint16).reshape(values.shape)


def from_patterns(patterns: Array) -> Array:
    """The float32 values of bfloat16 patterns."""
    bits = np.ascontiguousarray(patterns).astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32).reshape(patterns.shape)


def install() -> None:
    """Repair the interpreter of this process, for good."""
    _keep_as_float32()
    _round_every_result()
    builder = interpreter.InterpreterBuilder
    for name, wrap in _WRAPPERS.items():
        setattr(builder, name, wrap(getattr(builder, name)))
    builder.get_bf16 = lambda _, value: _handle(np.array([value], np.float32))


def _is_bfloat16(dtype: Any) -> bool:
    return bool(dtype.scalar == tl.bfloat16)


def _handle(values: Array) -> Any:
    return interpreter.TensorHandle(values, tl.bfloat16)


def _keep_as_float32() -> None:
    numpy_dtype = interpreter._get_np_dtype
    fits = interpreter._validate_np_data_size

    def get_numpy_dtype(dtype: Any) -> Any:
        if not isinstance(dtype, tl.pointer_type) and _is_bfloat16(dtype):
            return _VALUE
        return numpy_dtype(dtype)

    def validate(array: Array, dtype: Any) -> Any:
        if not isinstance(dtype, tl.pointer_type) and _is_bfloat16(dtype):
            return array.itemsize <= _VALUE.itemsize
        return fits(array, dtype)

    interpreter._get_np_dtype = get_numpy_dtype
    interpreter._validate_np_data_size = validate


def _round_every_result() -> None:
    check = interpreter.TensorHandle.__post_init__

    def post_init(handle: Any) -> None:
        check(handle)
        if handle.dtype == tl.bfloat16 and handle.data.dtype == _VALUE:
            handle.data = rounded(handle.data)

    interpreter.TensorHandle.__post_init__ = post_init


Method = Callable[..., Any]


def _load(load: Method) -> Method:
    def create_masked_load(
        self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **k: Any
    ) -> Any:
        if ptrs.get_element_ty() != tl.bfloat16:
            return load(self, ptrs, mask, other, *rest, **k)
        filling = np.zeros(ptrs.data.shape, np.float32) if other is None else other.data
        patterns = interpreter._interpreter.load(
            ptrs.data, mask.data, to_patterns(filling), _PATTERN
        )
        return _handle(from_patterns(patterns))

    return create_masked_load


def _store(store: Method) -> Method:
    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        if ptrs.get_element_ty() != tl.bfloat16:
            return store(self, ptrs, value, mask, *rest)
        patterns = to_patterns(np.broadcast_to(value.data, ptrs.data.shape))
        return interpreter._interpreter.store(ptrs.data, patterns, mask.data)

    return create_masked_store


def _cast(cast: Method) -> Method:
    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        if not (_is_bfloat16(src.dtype) or _is_bfloat16(dst_type)):
            return cast(self, src, dst_type)
        values = src.data.astype(interpreter._get_np_dtype(dst_type))
        return interpreter.TensorHandle(values, dst_type.scalar)

    return cast_impl


def _convert(convert: Method) -> Method:
    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding: Any) -> Any:
        if _is_bfloat16(dst_type):
            values = src.data
            if src.dtype.primitive_bitwidth == 8:
                values = convert(self, src, tl.float32, None).data
            towards_zero = rounding == interpreter._ir.ROUNDING_MODE.RTZ
            values = values.astype(np.float32)
            return _handle(truncated(values) if towards_zero else values)
        if _is_bfloat16(src.dtype):
            wide = interpreter.TensorHandle(src.data, tl.float32)
            if dst_type.scalar.primitive_bitwidth == 8:
                return convert(self, wide, dst_type, rounding)
            return self.cast_impl(wide, dst_type)
        return convert(self, src, dst_type, rounding)

    return create_fp_to_fp


def _bitcast(bitcast: Method) -> Method:
    def create_bitcast(self: Any, src: Any, dst_type: Any) -> Any:
        if _is_bfloat16(src.dtype) and src.data.dtype == _VALUE:
            src = interpreter.TensorHandle(to_patterns(src.data), tl.uint16)
        if _is_bfloat16(dst_type):
            return _handle(from_patterns(src.data.view(np.uint16)))
        return bitcast(self, src, dst_type)

    return create_bitcast


def _absolute(absolute: Method) -> Method:
    def create_fabs(self: Any, arg: Any) -> Any:
        return _handle(np.abs(arg.data)) if _is_bfloat16(arg.dtype) else absolute(self, arg)

    return create_fabs


def _atomic(atomic: Method) -> Method:
    def refuse_bfloat16(self: Any, *args: Any) -> Any:
        if any(getattr(arg, "dtype", None) == tl.bfloat16 for arg in args):
            raise Unsupported("the CPU interpreter has no atomic operations on bfloat16")
        return atomic(self, *args)

    return refuse_bfloat16


_WRAPPERS: dict[str, Callable[[Method], Method]] = {
    "create_masked_load": _load,
    "create_masked_store": _store,
    "cast_impl": _cast,
    "create_fp_to_fp": _convert,
    "create_bitcast": _bitcast,
    "create_fabs": _absolute,
    "create_atomic_rmw": _atomic,
    "create_atomic_cas": _atomic,
}
