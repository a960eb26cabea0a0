"""What a submission may be entered by, and where its outputs go."""

from typing import Any

import pytest

from kernels.contract import (
    Bundle,
    Case,
    CasePlan,
    DType,
    Launch,
    Parameter,
    PointerArgument,
    Task,
)
from kernels.contract.wire import Failure
from tests.build.builds import COPY, COPYING, answer, built, failed

OUT = COPYING.model_copy(update={"style": "out"})


def pointers(case: CasePlan) -> list[tuple[int | None, str]]:
    """Buffers that the only launch gets, with their roles."""
    (launch,) = (step for step in case.steps if isinstance(step, Launch))
    found = [a.buffer for a in launch.arguments if isinstance(a, PointerArgument)]
    return [(index, case.buffers[index].role) for index in found if index is not None]


def test_another_name_is_given_by_the_task_or_the_request() -> None:
    asked = COPYING.model_copy(update={"entry": "copied"})
    case = built(COPY + "def copied(x): return run(x, torch.empty_like(x))", asked).plan.cases[0]
    assert pointers(case) == [(0, "input"), (1, "output")]


def test_an_autograd_function_is_applied() -> None:
    body = """
class Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return run(x, torch.empty_like(x))

    @staticmethod
    def backward(ctx, dy):
        return dy
"""
    case = built(COPY + body, COPYING.model_copy(update={"entry": "Copied"})).plan.cases[0]
    assert pointers(case) == [(0, "input"), (1, "output")]


@pytest.mark.parametrize(
    "entry",
    [
        "import functools\nsolve = functools.partial(run)\n",
        "class Solver:\n    def __call__(self, x, y): run(x, y)\nsolve = Solver()\n",
        "solve = torch.compile(torch.no_grad()(lambda x, y: run(x, y)))\n",
        "def solve(x, y): return run(x, y), 'whatever else'\n",
    ],
)
def test_outputs_are_passed_where_the_task_says_so(entry: str) -> None:
    case = built(COPY + entry, OUT).plan.cases[0]
    assert pointers(case) == [(0, "input"), (1, "output")]
    assert [(view.buffer, view.offset, view.shape) for view in case.outputs] == [(1, 0, (100,))]


def test_a_passed_output_may_be_written_by_an_operation() -> None:
    case = built(COPY + "def solve(x, y): y.copy_(run(x, torch.empty_like(x)))", OUT).plan.cases[0]
    assert [step.kind for step in case.steps] == ["launch", "op"]
    assert case.buffers[1].role == "output"


@pytest.mark.parametrize(
    ("body", "asked", "reason"),
    [
        ("def solve(x, y): run(x, torch.empty_like(x))", OUT, "no operation writes result 0"),
        ("def solve(x): return run(x, x)", OUT, "takes 1 positional argument but 2 were given"),
        ("def solve(x, y): return run(x, y)", COPYING, "missing 1 required positional argument"),
        ("class solve: pass", COPYING, "solve() takes no arguments"),
    ],
)
def test_the_signature_must_be_the_tasks(body: str, asked: Any, reason: str) -> None:
    assert reason in failed(body, asked).reason


def test_a_kernel_is_no_entry() -> None:
    found = answer(COPY, COPYING.model_copy(update={"entry": "copy"}))
    assert not isinstance(found, Bundle)
    assert isinstance(found, Failure)
    assert found.reason == "copy is a kernel"
    assert "a function copy that launches it" in (found.diagnostics[0].remedy or "")


def test_a_module_class_is_no_entry() -> None:
    failure = failed("class solve(torch.nn.Module): pass")
    assert failure.reason == "solve is a class"
    assert "calls an instance of it" in (failure.diagnostics[0].remedy or "")


LISTS = Task(
    **COPYING.model_dump(exclude={"inputs", "outputs", "cases"}),
    inputs=(Parameter(name="x", shape=("N",), each="N"),),
    outputs=(Parameter(name="y", shape=("N",), each="N"),),
    cases=(Case(name="one", kind="benchmark", values={"N": (7, 0, 9), "dtype": DType.FLOAT32}),),
)


@pytest.mark.parametrize("style", ["return", "out"])
def test_lists_come_and_go_as_lists(style: str) -> None:
    passed = "x, y" if style == "out" else "x, y=None"
    body = f"""
def solve({passed}):
    y = y or [torch.empty_like(one) for one in x]
    for source, target in zip(x, y):
        if source.numel():
            run(source, target)
    return y
"""
    case = built(COPY + body, LISTS.model_copy(update={"style": style})).plan.cases[0]
    assert [step.kind for step in case.steps] == ["launch", "launch"]
    assert [view.shape for view in case.outputs] == [(7,), (0,), (9,)]
    assert [buffer.name for buffer in case.buffers if buffer.name] == ["x_0", "x_1", "x_2"]
