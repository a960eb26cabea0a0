"""Read a plan from hostile bytes and hold it against the task that it claims to solve."""

from kernels.contract import (
    Bundle,
    CasePlan,
    DeviceName,
    PlanRefused,
    Task,
    TensorSpec,
    View,
    cubin,
)
from kernels.contract.ops import MOVEMENT


def load(data: bytes, task: Task, device: DeviceName) -> Bundle:
    """The plan with its cubins; PlanRefused unless it solves each case of the task as stated."""
    bundle = Bundle.unpack(data)
    cubin.check(bundle)
    plan = bundle.plan
    if plan.target.device is not device:
        raise PlanRefused(f"the plan was built for {plan.target.device.value}, not {device.value}")
    planned = {case.case for case in plan.cases}
    for case in task.cases:
        if case.name not in planned:
            raise PlanRefused(f"the plan leaves out case {case.name}")
        inputs = [spec for spec in task.arguments(case) if isinstance(spec, TensorSpec)]
        _check_inputs(plan.case(case.name), inputs)
        _check_outputs(plan.case(case.name), task.results(case))
    _check_operations(bundle, task)
    return bundle


def _check_inputs(plan: CasePlan, specs: list[TensorSpec]) -> None:
    sizes = {spec.name: spec.nbytes for spec in specs}
    seen: set[str] = set()
    for buffer in plan.buffers:
        if buffer.name is None:
            continue
        if buffer.name not in sizes or buffer.name in seen:
            raise PlanRefused(f"case {plan.case}: no input {buffer.name!r}, or two of it")
        if buffer.nbytes != sizes[buffer.name]:
            raise PlanRefused(
                f"case {plan.case}: input {buffer.name} has {buffer.nbytes} bytes, "
                f"the task says {sizes[buffer.name]}"
            )
        seen.add(buffer.name)


def _check_outputs(plan: CasePlan, specs: tuple[TensorSpec, ...]) -> None:
    if len(plan.outputs) != len(specs):
        raise PlanRefused(
            f"case {plan.case}: {len(plan.outputs)} results, the task has {len(specs)}"
        )
    for view, spec in zip(plan.outputs, specs, strict=True):
        if (view.shape, view.dtype) != (spec.shape, spec.dtype):
            raise PlanRefused(
                f"case {plan.case}: {spec.name} is {_described(view)}, "
                f"the task says {_described(spec)}"
            )


def _check_operations(bundle: Bundle, task: Task) -> None:
    if task.permissions.finishing:
        return
    for case in bundle.plan.cases:
        for action in case.actions():
            if action.kind == "op" and action.op not in MOVEMENT:
                raise PlanRefused(f"case {case.case}: the task does not allow {action.op}")


def _described(tensor: View | TensorSpec) -> str:
    return f"{tensor.dtype.value} of shape {tensor.shape}"
