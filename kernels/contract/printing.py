"""A launch plan as text that a person reads; everything in it is hostile and made printable."""

from collections.abc import Iterator

from kernels.contract.plan import Buffer, CasePlan, Kernel, Plan
from kernels.contract.steps import (
    Action,
    Argument,
    Choice,
    ElementType,
    FloatArgument,
    IntegerArgument,
    Launch,
    OpArgument,
    PointerArgument,
    Real,
    Step,
    TensorOp,
)
from kernels.contract.view import View


def plan_text(plan: Plan) -> str:
    """The whole plan, one thing a line; `k0` are kernels, `b0` the buffers of a case."""
    names = {sha: f"k{number}" for number, sha in enumerate(sorted(plan.kernels))}
    target = plan.target
    lines = [
        f"plan {plan.digest}",
        f"for {target.device}, {target.architecture}, made by Triton {target.triton}",
        *(f"note: {note}" for note in plan.notes),
        "",
        "kernels",
    ]
    for sha, name in names.items():
        lines += _kernel(name, sha, plan.kernels[sha])
    for case in plan.cases:
        lines += ["", *_case(case, names)]
    return "\n".join(_printable(line) for line in lines) + "\n"


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def _kernel(name: str, sha: str, kernel: Kernel) -> Iterator[str]:
    found = kernel.resources
    launch = [f"{kernel.warps} warps", f"{kernel.stages} stages"]
    launch += [f"clusters of {kernel.ctas}"] if kernel.ctas > 1 else []
    launch += ["cooperative"] if kernel.cooperative else []
    launch += ["dependent launch"] if kernel.dependent else []
    launch += (
        [f"{kernel.global_scratch_bytes} B scratch a block"] if kernel.global_scratch_bytes else []
    )
    yield f"  {name}  {kernel.function}: {', '.join(launch)}; cubin {sha[:12]}"
    spills = (found.spill_store_bytes, found.spill_load_bytes)
    told = "unknown" if None in spills else f"{spills[0]} + {spills[1]} B"
    yield (
        f"      {found.registers} registers, stack {found.stack_bytes} B, spills {told}, "
        f"shared {found.shared_bytes} + {found.static_shared_bytes} B"
    )
    if kernel.options:
        yield f"      options {', '.join(f'{k}={v!r}' for k, v in kernel.options.items())}"


def _case(case: CasePlan, names: dict[str, str]) -> Iterator[str]:
    yield f"case {case.case}"
    for number, buffer in enumerate(case.buffers):
        if buffer.nbytes or buffer.role != "temporary":
            yield f"  b{number}  {buffer_text(buffer)}{_unchanged(case, number)}"
    for number, step in enumerate(case.steps, 1):
        first, *rest = _step(step, names)
        yield f"  {number:3}  {first}"
        yield from (f"       {line}" for line in rest)
    for view in case.outputs:
        yield f"  result {_view(view)}"
    yield from (f"  note: {note}" for note in case.notes)


def buffer_text(buffer: Buffer) -> str:
    """Role, name, size and content of a buffer, in one line."""
    name = f" {buffer.name}" if buffer.name else ""
    content = f", content {buffer.content[:12]}" if buffer.content else ""
    content += f", values {buffer.values[:12]}" if buffer.values else ""
    places = (f"{r.at}: b{r.buffer} + {r.offset}" for r in buffer.relocations)
    relocations = f", addresses at {', '.join(places)}" if buffer.relocations else ""
    return f"{buffer.role}{name}, {buffer.nbytes} B{content}{relocations}"


def _unchanged(case: CasePlan, number: int) -> str:
    return ", must stay unchanged" if number in case.unchanged else ""


def _step(step: Step, names: dict[str, str]) -> Iterator[str]:
    if not isinstance(step, Choice):
        yield _action(step, names)
        return
    yield f"choice {step.id} of {step.function}{_line(step.line)}"
    for what, views in (("zero", step.reset), ("restore", step.restore)):
        if views:
            yield f"  {what} before each trial: {', '.join(map(_view, views))}"
    for alternative in step.alternatives:
        yield f"  if {alternative.config}"
        yield from (f"    {_action(action, names)}" for action in alternative.steps)
    for dropped in step.dropped:
        yield f"  dropped {dropped.config}: {dropped.reason}"


def _action(action: Action, names: dict[str, str]) -> str:
    if isinstance(action, Launch):
        arguments = ", ".join(argument_text(argument) for argument in action.arguments)
        return f"{names[action.kernel]}[{_sizes(action.grid)}]({arguments}){_line(action.line)}"
    return operation_text(action)


def operation_text(step: TensorOp) -> str:
    """A tensor operation as an assignment."""
    keywords = (f"{name}={_value(value)}" for name, value in step.keywords.items())
    arguments = ", ".join([*map(_value, step.arguments), *keywords])
    return f"{_view(step.outputs[0])} = {step.op}({arguments}){_line(step.line)}"


def argument_text(argument: Argument) -> str:
    """An argument of a launch: `b0 + 16`, `i32 4096`."""
    if isinstance(argument, PointerArgument):
        offset = f" + {argument.offset}" if argument.offset else ""
        return "null" if argument.buffer is None else f"b{argument.buffer}{offset}"
    if isinstance(argument, IntegerArgument):
        return f"{argument.type} {argument.value}"
    if isinstance(argument, FloatArgument):
        return f"{argument.type} {argument.value.value!r}"
    offset = f" + {argument.offset}" if argument.offset else ""
    return (
        f"map of b{argument.buffer}{offset} [{_sizes(argument.shape)}] "
        f"strides [{_sizes(argument.strides)}] box [{_sizes(argument.box)}]"
    )


def _value(value: OpArgument) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, View):
        return _view(value)
    if isinstance(value, Real):
        return repr(value.value)
    return value.dtype.value if isinstance(value, ElementType) else repr(value)


def _view(view: View) -> str:
    offset = f" + {view.offset}" if view.offset else ""
    return f"b{view.buffer}{offset} {view.dtype.value}[{_sizes(view.shape)}]{_strides(view)}"


def _strides(view: View) -> str:
    step, dense = 1, []
    for size in reversed(view.shape):
        dense.append(step)
        step *= size
    return "" if tuple(reversed(dense)) == view.strides else f" strides [{_sizes(view.strides)}]"


def _sizes(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes))


def _line(line: int | None) -> str:
    return "" if line is None else f"  # line {line}"
