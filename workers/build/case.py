"""One case: host code called on shape-only tensors."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch
from triton.runtime.jit import KernelInterface

from kernels.contract import Case, NumberSpec, Task, TensorSpec, View
from kernels.contract.tensor import nested
from workers.build.failures import BuildFailed
from workers.build.host_values import HostValues
from workers.build.memory import dtype_of
from workers.build.recorder import Recorder
from workers.build.tensors import META, on_device
from workers.facade.entry import callable_of

Call = Callable[[Callable[[], Any]], Any]
"""Calls submitted code."""


def entry_of(module: ModuleType, name: str) -> Callable[..., Any]:
    """The function that is called; BuildFailed if the submission lacks it."""
    # Not getattr: a module can define __getattr__.
    entry = vars(module).get(name)
    if entry is None:
        raise BuildFailed(
            "build_error",
            f"the submission does not define {name}",
            f"define a function {name} with the arguments of the statement",
        )
    if isinstance(entry, KernelInterface):
        raise BuildFailed(
            "build_error",
            f"{name} is a kernel",
            f"give the kernel another name, and write a function {name} that launches it",
        )
    if isinstance(entry, type) and issubclass(entry, torch.nn.Module):
        raise BuildFailed(
            "build_error",
            f"{name} is a class",
            "write a function with the arguments of the statement that calls an instance of it",
        )
    function = callable_of(entry)
    if function is None:
        raise BuildFailed("build_error", f"{name} is no function", f"write def {name}(...)")
    return function


def arguments(task: Task, case: Case, values: HostValues, recorder: Recorder) -> list[Any]:
    """What the entry function gets: tensors without values, but for those that it may read."""
    made = [_argument(spec, recorder) for spec in task.arguments(case)]
    for spec, tensor in zip(task.arguments(case), made, strict=True):
        if isinstance(spec, TensorSpec) and spec.host_visible:
            content = values[case.name, spec.name]
            recorder.show(tensor, content, lasting=not task.permissions.in_place)
    return nested(task.arguments(case), made)


def trace(
    task: Task, case: Case, arguments: Sequence[Any], entry: Callable[..., Any], call: Call,
    recorder: Recorder,
) -> tuple[View, ...]:  # fmt: skip
    """Call the entry function; where its results lie."""
    if task.style == "out":
        outputs = [_tensor(spec, recorder) for spec in task.results(case)]
        # Asked before: results lie in the memory that was passed, whatever becomes of its tensor.
        passed = tuple(map(recorder.memory.view, outputs))
        call(lambda: entry(*arguments, *nested(task.results(case), outputs)))
        call(lambda: recorder.use(view.buffer for view in passed))
        return passed
    # What it returns may be any object: it is looked at where its methods may raise.
    views: tuple[View, ...] = call(lambda: _results(task, case, entry(*arguments), recorder))
    return views


def _results(task: Task, case: Case, returned: Any, recorder: Recorder) -> tuple[View, ...]:
    specs = task.results(case)
    results = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(results) != len(specs):
        raise BuildFailed(
            "build_error",
            f"case {case.name}: the entry function returned {len(results)} values, "
            f"the task asks for {len(specs)}",
            f"return {', '.join(spec.name for spec in specs)}",
        )
    return tuple(
        _result(recorder, case, spec, value) for spec, value in zip(specs, results, strict=True)
    )


def _argument(spec: TensorSpec | NumberSpec, recorder: Recorder) -> Any:
    if isinstance(spec, NumberSpec):
        return spec.value
    tensor = _tensor(spec, recorder)
    allocation = recorder.memory.of(tensor)
    allocation.role, allocation.name = "input", spec.name
    return tensor


def _tensor(spec: TensorSpec, recorder: Recorder) -> torch.Tensor:
    storage = torch.empty(spec.nbytes, dtype=torch.uint8, device=META).untyped_storage()
    tensor = torch.empty(0, dtype=getattr(torch, spec.dtype.value), device=META)
    tensor.set_(storage, spec.offset, spec.shape, spec.strides)
    recorder.memory.of(tensor)  # its index among the buffers is that of its place in the signature
    return tensor


def _result(recorder: Recorder, case: Case, spec: TensorSpec, value: Any) -> View:
    where = f"case {case.name}: result {spec.name}"
    if not isinstance(value, torch.Tensor):
        raise BuildFailed(
            "build_error",
            f"{where} is a {type(value).__name__}, not a tensor",
            "return the tensors themselves, in the order of the statement",
        )
    if not on_device(value):
        raise BuildFailed("build_error", f"{where} is a CPU tensor", "return a CUDA tensor")
    with torch._C.DisableTorchFunction():
        shape = tuple(value.shape)
    dtype = dtype_of(value)
    if shape != spec.shape or dtype is not spec.dtype:
        raise BuildFailed(
            "build_error",
            f"{where} has shape {shape} and type {dtype}, "
            f"the task asks for {spec.shape} and {spec.dtype}",
        )
    view = recorder.memory.view(value)
    recorder.use({view.buffer})
    return view
