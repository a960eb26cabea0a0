"""Torch operations that are told to the plan in terms of simpler ones, which it may hold."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

aten = torch.ops.aten


def repeat(source: Tensor, repeats: list[int]) -> Tensor:
    """`tensor.repeat` and `torch.tile`: a new tensor, filled by one broadcast copy."""
    lead = len(repeats) - source.dim()
    sizes = [1] * lead + list(source.shape)
    result = source.new_empty([r * size for r, size in zip(repeats, sizes, strict=True)])
    split = [part for pair in zip(repeats, sizes, strict=True) for part in pair]
    spread = [part for size in sizes for part in (1, size)]
    result.view(split).copy_(source.reshape(spread).expand(split))
    return result


def roll(source: Tensor, shifts: list[int], dims: list[int] | tuple[()] = ()) -> Tensor:
    """`torch.roll`: each dimension is cut in two and joined the other way round."""
    if not dims:
        return roll(source.reshape(-1), shifts, [0]).view(source.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        size = source.shape[dim]
        cut = (size - shift) % size if size else 0
        source = torch.cat([source.narrow(dim, cut, size - cut), source.narrow(dim, 0, cut)], dim)
    return source


def scalar_tensor(value: float, **keywords: Any) -> Tensor:
    """A tensor of no dimensions, as `x[0] = 1` makes it."""
    return torch.full((), value, **keywords)


def scattered(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`slice_scatter` and its like: a clone, part of which is written over."""

    def result(source: Tensor, part: Tensor, *args: Any, **keywords: Any) -> Tensor:
        whole = source.clone()
        view(whole, *args, **keywords).copy_(part)
        return whole

    return result


def diag_embed(source: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """`torch.diag` of a vector: zeros, with a diagonal that is written over."""
    size = source.shape[-1] + abs(offset)
    result = source.new_zeros((*source.shape[:-1], size, size)).movedim((-2, -1), (dim1, dim2))
    result.diagonal(offset, dim1, dim2).copy_(source)
    return result


def block_diag(tensors: list[Tensor]) -> Tensor:
    """`torch.block_diag`: zeros, with blocks that are written over."""
    blocks = [tensor.expand(1, -1) if tensor.dim() < 2 else tensor for tensor in tensors]
    result = blocks[0].new_zeros([sum(block.shape[dim] for block in blocks) for dim in (0, 1)])
    row = column = 0
    for block in blocks:
        rows, columns = block.shape
        result[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    return result


EACH = "aten::_foreach_"


def for_each(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch._foreach_add_` and its like: one operation after the other."""
    function = getattr(aten, func._schema.name.removeprefix(EACH))
    count = len(args[0])
    columns = [a if isinstance(a, list | tuple) else [a] * count for a in args]
    results = [function(*each, **kwargs) for each in zip(*columns, strict=True)]
    return results if func._schema.returns else None


TABLE: dict[OpOverload, Callable[..., Tensor]] = {
    aten.repeat.default: repeat,
    aten.roll.default: roll,
    aten.scalar_tensor.default: scalar_tensor,
    aten.slice_scatter.default: scattered(aten.slice.Tensor),
    aten.select_scatter.default: scattered(aten.select.int),
    aten.diagonal_scatter.default: scattered(aten.diagonal.default),
    aten.diag_embed.default: diag_embed,
    aten.block_diag.default: block_diag,
}
"""Carried out under the recording mode, so that their parts are recorded."""


_WIDENED = (aten.sum, aten.mean)
"""Reductions that torch computes in the element type of their `out`."""


def functional(func: OpOverload) -> OpOverload | None:
    """The overload without `out` that computes the same; None if it is none with `out`."""
    arguments = func._schema.arguments
    if not arguments or not arguments[-1].is_out:
        return None
    wanted = [(a.name, str(a.type)) for a in arguments if not a.is_out]
    packet = func.overloadpacket
    for name in packet.overloads():
        found: OpOverload = getattr(packet, name)
        own = found._schema.arguments
        begins_alike = [(a.name, str(a.type)) for a in own[: len(wanted)]] == wanted
        rest = own[len(wanted) :]
        if begins_alike and all(not a.is_out and a.has_default_value() for a in rest):
            return found
    return None


def into(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Run a functional overload and copy its result into `out`, whose shape must be right."""
    out: Tensor = kwargs.pop("out")
    if not any("Tensor" in str(argument.type) for argument in func._schema.arguments):
        kwargs |= {"dtype": out.dtype, "device": out.device}
    elif func.overloadpacket in _WIDENED:
        kwargs.setdefault("dtype", out.dtype)
    result = func(*args, **kwargs)
    if result.shape != out.shape:
        raise RuntimeError(
            f"out has shape {tuple(out.shape)}, the result has {tuple(result.shape)}"
        )
    if not torch.can_cast(result.dtype, out.dtype):
        raise RuntimeError(f"result type {result.dtype} can't be cast to that of out, {out.dtype}")
    return out.copy_(result)
