"""The allowed tensor operations, each written out: a plan's op name never finds a function itself.

Every function computes into `out`, a view of the case's memory, and allocates no result.
"""

import math
from collections.abc import Callable, Sequence

import numpy
import torch
from torch import Tensor

from kernels.contract import ElementType, PlanRefused, Real, TensorOp, View
from kernels.contract.ops import KNOWN

Number = bool | int | float
Operation = Callable[..., None]

_IGNORED = frozenset(
    {"dtype", "layout", "device", "pin_memory", "non_blocking", "memory_format", "copy"}
)
"""Keywords that say what the place of the result already says."""


_MISFITS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
"""What torch and the functions below raise for operands that do not fit."""


def bind(op: TensorOp, tensor: Callable[[View], Tensor]) -> Callable[[], None]:
    """The operation on its views; PlanRefused if it does not fit them.

    What only torch can refuse (a broadcast, a type) is refused when it runs: see `run`.
    """
    apply = _OPERATIONS[op.op]
    arguments = [_resolve(argument, tensor) for argument in op.arguments]
    keywords = {
        name: _resolve(value, tensor) for name, value in op.keywords.items() if name not in _IGNORED
    }
    out = tensor(op.outputs[0])
    return lambda: _apply(op, apply, out, arguments, keywords)


def _apply(
    op: TensorOp,
    apply: Operation,
    out: Tensor,
    arguments: list[object],
    keywords: dict[str, object],
) -> None:
    try:
        apply(out, *arguments, **keywords)
    except (torch.AcceleratorError, torch.OutOfMemoryError):
        raise
    except _MISFITS as error:
        where = f" (line {op.line})" if op.line else ""
        raise PlanRefused(f"{op.op}{where} does not fit its operands: {error}"[:500]) from None


def _resolve(argument: object, tensor: Callable[[View], Tensor]) -> object:
    match argument:
        case View():
            return tensor(argument)
        case Real():
            return argument.value
        case ElementType():
            return None
        case tuple():
            return [_resolve(item, tensor) for item in argument]
        case _:
            return argument


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _same_shape(out: Tensor, shape: Sequence[int]) -> None:
    _require(
        tuple(out.shape) == tuple(shape), f"the result is {tuple(out.shape)}, not {tuple(shape)}"
    )


def _arange(out: Tensor, start: Number, end: Number, step: Number = 1) -> None:
    _same_shape(out, (max(0, math.ceil((end - start) / step)),))
    torch.arange(start, end, step, out=out)


def _cat(out: Tensor, tensors: list[Tensor], dim: int = 0) -> None:
    # torch leaves out tensors of shape (0,), whatever the rank of the others.
    parts = [part for part in tensors if part.ndim != 1 or part.numel()] or tensors[:1]
    shape = list(parts[0].shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    _same_shape(out, shape)
    torch.cat(tensors, dim, out=out)


def _stack(out: Tensor, tensors: list[Tensor], dim: int = 0) -> None:
    shape = list(tensors[0].shape)
    shape.insert(dim if dim >= 0 else dim + len(shape) + 1, len(tensors))
    _same_shape(out, shape)
    torch.stack(tensors, dim, out=out)


def _copy(out: Tensor, source: Tensor) -> None:
    _same_shape(out, source.shape)
    out.copy_(source)


def _copy_into(out: Tensor, target: Tensor, source: Tensor, *_: object) -> None:
    out.copy_(source)


def _pad(out: Tensor, source: Tensor, pad: list[int], value: Number = 0) -> None:
    _require(
        len(pad) % 2 == 0 and len(pad) // 2 <= source.ndim, "pads come in pairs, at most one a dim"
    )
    before = [0] * source.ndim
    after = [0] * source.ndim
    for place in range(len(pad) // 2):
        axis = source.ndim - 1 - place
        before[axis], after[axis] = pad[2 * place], pad[2 * place + 1]
    sizes = [size + b + a for size, b, a in zip(source.shape, before, after, strict=True)]
    _require(min(sizes, default=0) >= 0, "a pad leaves less than nothing")
    _same_shape(out, sizes)
    out.fill_(value)
    target = out
    for axis, (size, b, a) in enumerate(zip(source.shape, before, after, strict=True)):
        kept = max(size + min(b, 0) + min(a, 0), 0)
        source = source.narrow(axis, min(max(-b, 0), size), kept)
        target = target.narrow(axis, min(max(b, 0), out.shape[axis]), kept)
    target.copy_(source)


def _fill(out: Tensor, target: Tensor, value: Number) -> None:
    out.fill_(value)


def _full(out: Tensor, size: list[int], value: Number) -> None:
    _same_shape(out, size)
    out.fill_(value)


def _full_like(out: Tensor, other: Tensor, value: Number) -> None:
    _same_shape(out, other.shape)
    out.fill_(value)


def _new_full(out: Tensor, other: Tensor, size: list[int], value: Number) -> None:
    _full(out, size, value)


def _constant(value: int) -> Operation:
    def fill(out: Tensor, size: list[int]) -> None:
        _full(out, size, value)

    return fill


def _new_constant(value: int) -> Operation:
    def fill(out: Tensor, other: Tensor, size: list[int]) -> None:
        _full(out, size, value)

    return fill


def _constant_like(value: int) -> Operation:
    def fill(out: Tensor, other: Tensor) -> None:
        _full_like(out, other, value)

    return fill


def _zero(out: Tensor, target: Tensor) -> None:
    out.zero_()


def _broadcast(out: Tensor, left: Tensor, right: Tensor | Number) -> None:
    shape = right.shape if isinstance(right, Tensor) else ()
    _same_shape(out, numpy.broadcast_shapes(tuple(left.shape), tuple(shape)))


def _add(out: Tensor, left: Tensor, right: Tensor | Number, alpha: Number = 1) -> None:
    _broadcast(out, left, right)
    torch.add(left, right, alpha=alpha, out=out)


def _sub(out: Tensor, left: Tensor, right: Tensor | Number, alpha: Number = 1) -> None:
    _broadcast(out, left, right)
    torch.sub(left, right, alpha=alpha, out=out)


def _mul(out: Tensor, left: Tensor, right: Tensor | Number) -> None:
    _broadcast(out, left, right)
    torch.mul(left, right, out=out)


def _div(out: Tensor, left: Tensor, right: Tensor | Number) -> None:
    _broadcast(out, left, right)
    torch.div(left, right, out=out)


def _neg(out: Tensor, source: Tensor) -> None:
    _same_shape(out, source.shape)
    torch.neg(source, out=out)


def _rsub(out: Tensor, source: Tensor, left: Number, alpha: Number = 1) -> None:
    _same_shape(out, source.shape)
    torch.sub(torch.tensor(left), source, alpha=alpha, out=out)


def _reciprocal(out: Tensor, source: Tensor) -> None:
    _same_shape(out, source.shape)
    torch.reciprocal(source, out=out)


def _reduced(source: Tensor, dim: Sequence[int], keepdim: bool) -> list[int]:
    axes = {axis % max(source.ndim, 1) for axis in dim} or set(range(source.ndim))
    return [
        1 if axis in axes else size
        for axis, size in enumerate(source.shape)
        if keepdim or axis not in axes
    ]


def _amax(out: Tensor, source: Tensor, dim: Sequence[int] = (), keepdim: bool = False) -> None:
    _same_shape(out, _reduced(source, dim, keepdim))
    torch.amax(source, tuple(dim), keepdim, out=out)


def _amin(out: Tensor, source: Tensor, dim: Sequence[int] = (), keepdim: bool = False) -> None:
    _same_shape(out, _reduced(source, dim, keepdim))
    torch.amin(source, tuple(dim), keepdim, out=out)


def _sum(out: Tensor, source: Tensor) -> None:
    _sum_dims(out, source, None)


def _sum_dims(
    out: Tensor, source: Tensor, dim: Sequence[int] | None, keepdim: bool = False
) -> None:
    _same_shape(out, _reduced(source, dim or (), keepdim))
    torch.sum(source, tuple(dim or ()), keepdim, dtype=out.dtype, out=out)


def _mean(out: Tensor, source: Tensor) -> None:
    _mean_dims(out, source, None)


def _mean_dims(
    out: Tensor, source: Tensor, dim: Sequence[int] | None, keepdim: bool = False
) -> None:
    _same_shape(out, _reduced(source, dim or (), keepdim))
    torch.mean(source, tuple(dim or ()), keepdim, dtype=out.dtype, out=out)


_OPERATIONS: dict[str, Operation] = {
    "aten.arange.start_step": _arange,
    "aten.cat.default": _cat,
    "aten.clone.default": _copy,
    "aten._to_copy.default": _copy,
    "aten.constant_pad_nd.default": _pad,
    "aten.copy_.default": _copy_into,
    "aten.fill_.Scalar": _fill,
    "aten.full.default": _full,
    "aten.full_like.default": _full_like,
    "aten.new_full.default": _new_full,
    "aten.new_ones.default": _new_constant(1),
    "aten.new_zeros.default": _new_constant(0),
    "aten.ones.default": _constant(1),
    "aten.ones_like.default": _constant_like(1),
    "aten.stack.default": _stack,
    "aten.zero_.default": _zero,
    "aten.zeros.default": _constant(0),
    "aten.zeros_like.default": _constant_like(0),
    "aten.add.Tensor": _add,
    "aten.add_.Tensor": _add,
    "aten.amax.default": _amax,
    "aten.amin.default": _amin,
    "aten.div.Tensor": _div,
    "aten.div_.Tensor": _div,
    "aten.mul.Tensor": _mul,
    "aten.mul_.Tensor": _mul,
    "aten.mean.default": _mean,
    "aten.mean.dim": _mean_dims,
    "aten.neg.default": _neg,
    "aten.neg_.default": _neg,
    "aten.reciprocal.default": _reciprocal,
    "aten.rsub.Scalar": _rsub,
    "aten.sub.Tensor": _sub,
    "aten.sub_.Tensor": _sub,
    "aten.sum.default": _sum,
    "aten.sum.dim_IntList": _sum_dims,
}
assert _OPERATIONS.keys() == KNOWN
