"""The torch dispatch mode that records what reaches the device below every torch function."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from workers.build import custom_ops, decompositions, operations, overlap
from workers.build.advice import instead_of
from workers.build.drawn import Draw
from workers.build.known import ELEMENTS
from workers.build.recorder import Recorder
from workers.build.tensors import (
    META,
    any_on_device,
    device_tensors,
    has_kernel,
    is_device,
    on_backing,
    on_cpu,
)
from workers.facade import shapes
from workers.facade.mode import called

_ALLOCATIONS = {
    "aten.empty.memory_format",
    "aten.empty_strided.default",
    "aten.empty_like.default",
    "aten.empty_permuted.default",
    "aten.new_empty.default",
    "aten.new_empty_strided.default",
}
_RESIZES = {torch.ops.aten.resize_, torch.ops.aten.resize_as_}
_REBOUND = {torch.ops.aten.set_, *_RESIZES}
"""Operations after which a tensor lies elsewhere, or ends earlier; nothing moves. So it is with
those that torch itself marks as views in place, such as `t_`."""
_COPY = torch.ops.aten.copy_.default
_FILLS = {"aten.zero_.default", "aten.fill_.Scalar"}
"""Operations that may write an element twice."""
_WRITTEN_IN_SECRET = ("running_mean", "running_var")
"""Arguments that a batch norm writes while it trains, though its schema says nothing of that."""
_NONE: Mapping[str, Any] = MappingProxyType({})
_READS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
_TORCH = ("aten", "prims", "prim", "profiler")
"""Namespaces of operations that torch itself carries out."""


class RecordingMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records operations on meta tensors; those on CPU tensors pass."""

    def __init__(
        self, recorder: Recorder, finishing: bool, modes: Callable[[], Sequence[Any]]
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder
        self._finishing = finishing
        self._modes = modes
        """New modes for the body of a custom operation."""

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if any(map(_dispatches, types)):
            # Its turn first: what it does to the tensors within comes here again, this does not.
            return NotImplemented
        keywords = dict(kwargs or {})
        if func.namespace not in _TORCH and device_tensors((args, keywords)):
            return custom_ops.run(func, args, keywords, self._recorder, self._modes)
        # Operations issued by C++ arrive with the function mode still on: it would hide the device.
        with torch._C.DisableTorchFunction():
            return self._dispatch(func, args, keywords)

    def _dispatch(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = str(func)
        args, kwargs = tree_map(on_backing, (args, kwargs))
        if func.namespace == "prim":
            return func(*args, **kwargs)
        if shapes.asked() or not any_on_device((args, kwargs)):
            kwargs.pop("pin_memory", None)
            if shapes.asked() and _changed(func, args, kwargs):
                raise self._recorder.refused(
                    f"{_spoken(name)}: device type meta does not match that of out (cuda)",
                    "leave the device argument away, or give an out of the meta device",
                )
            return shapes.as_shapes(func(*args, **kwargs), device_tensors((args, kwargs)))
        if func is _COPY and shapes.is_shape(args[0]):
            return args[0]
        args = tuple(map(_like, args)) if kwargs.get("device") == META else args
        if name == "aten._to_copy.default":
            return self._to_copy(func, args, kwargs)
        if name == "aten.copy_.default" and args[0].device != args[1].device:
            return self._copy_across(func, *args[:2])
        if _READS.intersection(func.tags) and not _by_position(name, args):
            return self._host_result(func, name, args, kwargs)
        with self:
            result = _decomposed(func, args, kwargs)
        return self._record(func, args, kwargs) if result is NotImplemented else result

    def _to_copy(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        source, target = args[0], kwargs.pop("device", None)
        for unused in ("non_blocking", "pin_memory"):
            kwargs.pop(unused, None)
        if source.device.type == "cpu":
            return self._recorder.upload(func(source, **kwargs))
        if target is not None and target.type == "cpu":
            return func(self._recorder.read(source, "tensor.cpu()"), **kwargs)
        return self._record(func, args, kwargs)

    def _copy_across(self, func: OpOverload, target: torch.Tensor, source: torch.Tensor) -> Any:
        if target.device.type == "cpu":
            return func(target, self._recorder.read(source, "copying a device tensor to the host"))
        return self._record(func, (target, self._recorder.upload(source)), {})

    def _host_result(
        self, func: OpOverload, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        what = "tensor.item()" if name.startswith("aten._local_scalar") else _spoken(name)
        args, kwargs = tree_map(lambda v: self._read(v, what), (args, kwargs))
        return tree_map(self._placed_like_device, func(*args, **kwargs))

    def _read(self, value: Any, what: str) -> Any:
        return self._recorder.read(value, what) if is_device(value) else value

    def _placed_like_device(self, value: Any) -> Any:
        return self._recorder.upload(value) if isinstance(value, torch.Tensor) else value

    def _record(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        asked = str(func)
        func, args, kwargs = operations.canonical(func, args, kwargs)
        name = str(func)
        self._check_devices(name, args, kwargs)
        inputs = device_tensors((args, kwargs))
        result = self._shape_of_result(func, name, args, kwargs)
        outputs = [o for o in tree_flatten(result)[0] if isinstance(o, torch.Tensor)]
        self._check_bounds(name, outputs)
        if func._schema.is_mutable and name not in _FILLS:
            self._check_overlap(name, args)
        if name in _ALLOCATIONS or _rebinds(func):
            return result
        mutable = func._schema.is_mutable
        if not mutable and self._all_views(outputs, inputs):
            return result
        if self._drawn(func, asked, args, inputs, outputs):
            return result
        if not operations.permitted(name, self._finishing):
            return self._folded(func, asked, args, kwargs, outputs)
        step = operations.operation(self._recorder, name, args, kwargs, outputs[0])
        self._recorder.emit(step)
        self._recorder.known.follow(
            func, args, kwargs, outputs[0], certain=not self._recorder.branching
        )
        return result

    def _check_devices(self, name: str, args: Any, kwargs: Any) -> None:
        for value in tree_flatten((args, kwargs))[0]:
            if shapes.is_shape(value):
                raise self._recorder.refused(
                    f"{_spoken(name)}: expected all tensors to be on the same device, "
                    "but found cuda:0 and meta",
                    "give the module memory by module.to_empty(device='cuda'), and copy its values",
                )
            if name.startswith("aten.index"):
                continue  # torch takes indices from either side
            if isinstance(value, torch.Tensor) and value.device.type == "cpu" and value.dim():
                raise self._recorder.refused(
                    f"{_spoken(name)}: expected all tensors to be on the same device, "
                    "but found cuda:0 and cpu",
                    "move the CPU tensor with .cuda() first",
                )

    def _check_bounds(self, name: str, outputs: list[torch.Tensor]) -> None:
        # A meta tensor may end anywhere; one on the GPU may not.
        if not all(self._recorder.memory.holds(output) for output in outputs):
            raise self._recorder.refused(
                f"{_spoken(name)} gives a tensor that ends behind the memory it lies in",
                "take a view of what was allocated, or allocate a larger tensor",
            )

    def _check_overlap(self, name: str, args: Any) -> None:
        target, *sources = device_tensors(args)
        if overlap.overlaps(target, sources):
            raise self._recorder.refused(f"{_spoken(name)}: {overlap.PROBLEM}", overlap.REMEDY)

    def _shape_of_result(self, func: OpOverload, name: str, args: Any, kwargs: Any) -> Any:
        if func.overloadpacket in _RESIZES and _grows(*args[:2]):
            raise self._recorder.refused(
                "tensor.resize_() grows a device tensor, whose address is already fixed",
                "allocate a new tensor",
            )
        try:
            return func(*args, **kwargs)
        except NotImplementedError:
            raise self._refused_operation(name) from None

    def _all_views(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor]) -> bool:
        storages = {tensor.untyped_storage()._cdata for tensor in inputs}
        return bool(outputs) and all(o.untyped_storage()._cdata in storages for o in outputs)

    def _drawn(
        self, func: OpOverload, name: str, args: Any, inputs: list[torch.Tensor],
        outputs: list[torch.Tensor],
    ) -> bool:  # fmt: skip
        """Whether an operation gives random numbers: then it is no step, and nothing may use them.

        What writes over all of them is one again.
        """
        drawn, recorder = self._recorder.drawn, self._recorder
        found = drawn.of(inputs)
        if torch.Tag.nondeterministic_seeded in func.tags:
            found = Draw(_spoken(name), recorder.line(), recorder.importing)
        if found is None:
            return False
        if recorder.branching:
            raise recorder.refused_draw(found)
        if drawn.overwritten(func, args):
            return False
        # Some operations write what they do not return.
        for index in drawn.put([*outputs, *_changed(func, args)], found):
            recorder.known.forget(index)
        return True

    def _folded(
        self, func: OpOverload, name: str, args: Any, kwargs: Any, outputs: list[torch.Tensor]
    ) -> Any:
        """A forbidden operation on values the host made itself is done on the host."""
        inputs = device_tensors((args, kwargs))
        small = sum(output.numel() for output in outputs) <= ELEMENTS
        known = all(self._recorder.known.get(tensor) is not None for tensor in inputs)
        in_place = func._schema.is_mutable
        unseen = not _changes_first(func) if in_place else bool(_changed(func, args))
        if not small or not known or unseen:
            raise self._refused_operation(name)
        target = args[0] if in_place else None
        args, kwargs = tree_map(lambda v: self._read(v, _spoken(name)), (args, kwargs))
        args, kwargs = tree_map(on_cpu, (args, kwargs))
        result = tree_map(self._placed_like_device, func(*args, **kwargs))
        return result if target is None else self._record(_COPY, (target, result), {})

    def _refused_operation(self, name: str) -> Exception:
        return self._recorder.refused(
            f"{_as_called(name)}: the work must be done by Triton kernels",
            instead_of(name.split(".")[1].strip("_")),
        )


def _like(value: Any) -> Any:
    """What has the shape of a value, for operations that are told another device than its own."""
    return torch.empty_like(value) if shapes.is_shape(value) else value


def _changed(
    func: OpOverload, args: tuple[Any, ...], kwargs: Mapping[str, Any] = _NONE
) -> list[torch.Tensor]:
    """Tensors of the GPU among the arguments that an operation writes."""
    arguments = func._schema.arguments
    given = {**dict(zip((a.name for a in arguments), args, strict=False)), **kwargs}
    names = [a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write]
    if given.get("training", True):
        names += _WRITTEN_IN_SECRET
    return device_tensors([given.get(name) for name in names])


def _changes_first(func: OpOverload) -> bool:
    """Whether an operation changes its first argument, no other, and returns it."""
    changed = [i for i, a in enumerate(func._schema.arguments) if a.alias_info is not None]
    return changed == [0] and len(func._schema.returns) == 1


def _by_position(name: str, args: tuple[Any, ...]) -> bool:
    """Whether it is an index without masks, whose result's shape is known."""
    if name != "aten.index.Tensor":
        return False
    masks = (torch.bool, torch.uint8)
    return not any(index is not None and index.dtype in masks for index in args[1])


def _decomposed(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if func._schema.name.startswith(decompositions.EACH):
        return decompositions.for_each(func, args, kwargs)
    if has_kernel(func, "CompositeImplicitAutograd"):
        result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
    simpler = decompositions.TABLE.get(func)
    if simpler is not None:
        return simpler(*args, **kwargs)
    functional = decompositions.functional(func)
    if functional is not None and "out" in kwargs:
        return decompositions.into(functional, args, kwargs)
    return NotImplemented


def _grows(tensor: torch.Tensor, size: Sequence[int] | torch.Tensor) -> bool:
    shape = size.shape if isinstance(size, torch.Tensor) else torch.Size(size)
    end = (int(tensor.storage_offset()) + shape.numel()) * tensor.element_size()
    return shape.numel() > 0 and end > tensor.untyped_storage().nbytes()


def _rebinds(func: OpOverload) -> bool:
    return func.overloadpacket in _REBOUND or torch.Tag.inplace_view in func.tags


def _dispatches(kind: type) -> bool:
    """Whether a class of tensors handles operations itself."""
    own = getattr(kind, "__torch_dispatch__", None)
    return own is not None and own is not torch._C._disabled_torch_dispatch_impl


def _as_called(name: str) -> str:
    """That an operation is not allowed, by the name of the function that host code called."""
    operation, function = _spoken(name), called()
    if function.startswith("__") or function.strip("_") in ("", operation.split(".")[1]):
        return f"{operation} is not allowed in host code"
    return f"torch.{function} is not allowed in host code (it needs {operation})"


def _spoken(name: str) -> str:
    """`aten._softmax.default` as a person knows it: `torch.softmax`."""
    base = name.split(".")[1].strip("_")
    return f"torch.{base}"
