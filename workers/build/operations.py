"""Torch operations in the form in which a plan holds them.

An operation keeps torch's overload name and its positional arguments. Since its result is a view
with a shape, strides and an element type, keywords that only say where and how to allocate are
left out. `arange` always has start, end and step; `copy_` has no third argument.
"""

from typing import Any

import torch
from torch._ops import OpOverload

from kernels.contract import ElementType, Real, TensorOp, View
from kernels.contract.ops import FINISHING, MOVEMENT
from kernels.contract.steps import OpArgument, OpScalar
from workers.build.memory import DTYPES, Memory
from workers.build.recorder import Recorder
from workers.facade import Refusal

aten = torch.ops.aten
_PLACEMENT = {"layout", "device", "pin_memory", "memory_format", "non_blocking", "requires_grad"}
_KEPT = {"aten.mean.default", "aten.mean.dim", "aten.sum.default", "aten.sum.dim_IntList"}
"""Operations whose dtype says how to compute, not only what to allocate."""
_SCALARS = {
    aten.add.Scalar: aten.add.Tensor,
    aten.sub.Scalar: aten.sub.Tensor,
    aten.mul.Scalar: aten.mul.Tensor,
    aten.div.Scalar: aten.div.Tensor,
}
"""Overloads that TorchScript takes for numbers, and Python never."""
_EXTREMES = {"aten.max.default": aten.amax.default, "aten.min.default": aten.amin.default}


def permitted(name: str, finishing: bool) -> bool:
    """Whether a plan may hold an operation."""
    return name in MOVEMENT or (finishing and name in FINISHING)


def canonical(
    func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
    """Operation and arguments in the one form that a plan holds."""
    func = _SCALARS.get(func, func)
    name = str(func)
    if name == "aten.arange.default":
        return aten.arange.start_step, (0, args[0], 1), kwargs
    if name in ("aten.arange.start", "aten.arange.start_step"):
        return aten.arange.start_step, (*args, 1)[:3], kwargs
    if name in _EXTREMES:
        return _EXTREMES[name], args, kwargs
    if name == "aten.rsub.Tensor":
        return aten.sub.Tensor, (args[1], args[0]), kwargs
    if name == "aten.copy_.default":
        return func, args[:2], {}
    if name == "aten.fill_.Tensor" and args[1].device.type == "cpu":
        return aten.fill_.Scalar, (args[0], args[1].item()), {}
    return func, args, kwargs


def operation(
    recorder: Recorder, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], out: torch.Tensor
) -> TensorOp:
    """The step of an operation whose result is `out`."""
    dropped = _PLACEMENT if name in _KEPT else {*_PLACEMENT, "dtype"}
    memory = recorder.memory
    return TensorOp(
        op=name,
        arguments=tuple(_argument(memory, a) for a in args),
        keywords={k: _argument(memory, v) for k, v in kwargs.items() if k not in dropped},
        outputs=(memory.view(out),),
        line=recorder.line(),
    )


def _argument(memory: Memory, value: Any) -> OpArgument:
    if isinstance(value, list | tuple):
        return tuple(_scalar(memory, item) for item in value)
    return _scalar(memory, value)


def _scalar(memory: Memory, value: Any) -> OpScalar:
    if isinstance(value, torch.Tensor):
        return _tensor(memory, value)
    if isinstance(value, torch.dtype):
        return ElementType(dtype=DTYPES[value])
    if isinstance(value, float):
        return Real.of(value)
    if isinstance(value, int) and memory.find(value) is not None:
        raise Refusal(
            "an address is given to a torch operation as a number",
            "make the table of addresses by torch.tensor([...], device='cuda')",
        )
    if value is None or isinstance(value, bool | int):
        return value
    raise Refusal(
        f"an argument of type {type(value).__name__} cannot stand in a plan",
        "give torch operations tensors, numbers and element types",
    )


def _tensor(memory: Memory, value: torch.Tensor) -> View | OpScalar:
    if value.device.type == "meta":
        return memory.view(value)
    return _scalar(memory, value.item())
