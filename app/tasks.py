"""Tasks as participants see them: hidden cases stay hidden."""

from math import exp, log

from app.schemas import CaseDetail, TaskDetail, TaskSummary
from kernels.catalog import TaskFolder
from kernels.contract import DEVICES, Case, DeviceName, Parameter, Task


def summarise(task: Task) -> TaskSummary:
    """A task for a list."""
    return TaskSummary(**{name: getattr(task, name) for name in TaskSummary.model_fields})


def describe(folder: TaskFolder, devices: tuple[DeviceName, ...]) -> TaskDetail:
    """A task with all that a participant may know."""
    task = folder.task
    visible = [case for case in task.cases if not case.hidden]
    return TaskDetail(
        **dict(summarise(task)),
        entry=task.entry,
        signature=signature(task),
        statement=folder.statement,
        starter=folder.starter,
        inputs=task.inputs,
        outputs=task.outputs,
        cases=tuple(_case(task, case) for case in visible),
        hidden_cases=len(task.cases) - len(visible),
        cost=task.cost,
        tolerance=task.tolerance,
        permissions=task.permissions,
        limits=task.limits,
        devices=devices,
    )


def signature(task: Task) -> str:
    """The entry function as a line of Python, for example `solve(x[M, N]) -> y[M, N]`.

    Where outputs are passed to be written into: `solve(x[M, N], out y[M, N])`.
    """
    inputs = [_parameter(parameter) for parameter in task.inputs]
    outputs = [_parameter(parameter) for parameter in task.outputs]
    if task.style == "out":
        return f"{task.entry}({', '.join([*inputs, *(f'out {output}' for output in outputs)])})"
    return f"{task.entry}({', '.join(inputs)}) -> {', '.join(outputs)}"


def floor(task: Task, device: DeviceName) -> float | None:
    """Geometric mean of the least microseconds that the benchmark cases need by the datasheet."""
    known, rate = DEVICES[device], task.cost.rate
    floors = [
        max(task.bytes(case) / known.bandwidth, task.flops(case) / known.nominal_peak[rate])
        for case in task.cases
        if case.kind == "benchmark"
    ]
    if not floors or min(floors) <= 0:
        return None
    return 1e6 * exp(sum(map(log, floors)) / len(floors))


def _parameter(parameter: Parameter) -> str:
    if parameter.shape is None:
        return parameter.name
    text = f"{parameter.name}[{', '.join(parameter.shape)}]"
    return text if parameter.each is None else f"list of {text}"


def _case(task: Task, case: Case) -> CaseDetail:
    return CaseDetail(
        name=case.name,
        kind=case.kind,
        values=case.values,
        arguments=task.arguments(case),
        results=task.results(case),
        flops=task.flops(case),
        bytes=task.bytes(case),
    )
