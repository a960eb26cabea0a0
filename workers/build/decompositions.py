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


TABLE: dict[OpOverload, Callable[..., Tensor]] = {
    aten.repeat.default: repeat,
    aten.roll.default: roll,
    aten.scalar_tensor.default: scalar_tensor,
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
        own = [(a.name, str(a.type)) for a in found._schema.arguments]
        if not any(a.is_out for a in found._schema.arguments) and own[: len(wanted)] == wanted:
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
