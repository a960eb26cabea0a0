"""Inputs whose values host code may read: read as constants are, and named in the plan."""

import hashlib
import struct
import textwrap

import pytest

from kernels.contract import (
    Bundle,
    Case,
    CasePlan,
    Cost,
    DType,
    Launch,
    Parameter,
    Permissions,
    Task,
)
from kernels.contract.wire import AnswerRefused, Failure
from tests.build.builds import COPY, answer, names
from workers.build import host_values

ENDS = (0, 3, 10, 64)
VALUES = struct.pack("<4q", *ENDS)


def asked(permissions: Permissions | None = None) -> Task:
    """Copy x, with the ends of its parts beside it."""
    return Task(
        name="parts",
        title="Parts",
        summary="Copy each part.",
        inputs=(
            Parameter(name="x", shape=("N",)),
            Parameter(name="ends", shape=("P + 1",), dtype="int64", host_visible=True),
        ),
        outputs=(Parameter(name="y", shape=("N",)),),
        cases=(
            Case(
                name="four",
                kind="benchmark",
                values={"N": 64, "P": 3, "dtype": DType.FLOAT32},
            ),
        ),
        cost=Cost(bytes="1"),
        permissions=permissions or Permissions(),
    )


def found(body: str, values: bytes = VALUES, task: Task | None = None) -> Bundle | Failure:
    return answer(COPY + textwrap.dedent(body), task or asked(), values=(values,))


def plan(body: str, values: bytes = VALUES, task: Task | None = None) -> CasePlan:
    bundle = found(body, values, task)
    assert isinstance(bundle, Bundle), bundle
    return bundle.plan.cases[0]


def counts(case: CasePlan) -> list[int]:
    """The `count` that each launch of `copy` got."""
    return [
        argument.value
        for step in case.steps
        if isinstance(step, Launch)
        for argument in step.arguments
        if argument.kind == "integer"
    ]


def test_host_code_may_go_by_the_values() -> None:
    case = plan(
        """
        def solve(x, ends):
            y = torch.empty_like(x)
            for start, end in zip(ends.tolist(), ends[1:].tolist()):
                run(x[start:end], y[start:end])
            return y
        """
    )
    assert counts(case) == [3, 7, 54]


COMPUTED = {
    "ends[2].item()": 10,
    "int(ends.max())": 64,
    "(ends != 0).sum().item()": 3,
    "int(ends.cpu().numpy()[1])": 3,
    "(ends[1:] - ends[:-1]).amax().item()": 54,
    "len(torch.repeat_interleave(torch.arange(3, device=x.device), ends.diff()))": 64,
    "int(torch.cat([torch.arange(n) for n in ends.diff().tolist()]).max())": 53,
    "1 + int(ends[1] > 2)": 2,
    "int(list(ends)[3])": 64,
    "ends.to(torch.int32).cumsum(0)[-1].item()": 77,
    "int(ends.unique().numel())": 4,
    "ends.argmax().item()": 3,
    "torch.nonzero(ends > 5).numel()": 2,
}
"""What host code may ask of the values, and the answer."""


def test_it_may_compute_with_them_on_the_host() -> None:
    launches = "".join(f"        copy[(1,)](x, y, {each}, BLOCK=64)\n" for each in COMPUTED)
    body = f"""
    def solve(x, ends):
        y = torch.empty_like(x)
{launches}
        return y
    """
    assert counts(plan(body)) == list(COMPUTED.values())


def test_the_plan_names_the_values_it_was_built_on() -> None:
    body = "\ndef solve(x, ends):\n    return run(x, torch.empty_like(x))\n"
    buffers = {buffer.name: buffer for buffer in plan(body).buffers}
    assert buffers["ends"].values == hashlib.sha256(VALUES).hexdigest()
    assert buffers["x"].values is None
    other = struct.pack("<4q", 0, 1, 2, 64)
    assert plan(body, other).buffers != plan(body).buffers


def test_the_tensor_itself_stays_an_input_of_kernels() -> None:
    case = plan(
        """
        @triton.jit
        def ends_of(ends_ptr, y_ptr, COUNT: tl.constexpr):
            tl.store(y_ptr + tl.arange(0, 64), tl.load(ends_ptr + COUNT).to(tl.float32))

        def solve(x, ends):
            y = torch.empty_like(x)
            ends_of[(1,)](ends, y, COUNT=int(ends[1]))
            assert ends.tolist() == [0, 3, 10, 64]  # as no kernel may change an input
            return y
        """
    )
    assert case.buffers[1].name == "ends"
    assert names(case) == ["launch"]


def test_other_inputs_stay_unknown() -> None:
    failure = found("def solve(x, ends):\n    return run(x, x.new_empty(int(x[0])))\n")
    assert isinstance(failure, Failure)
    assert failure.verdict == "rejected"
    assert "reads the values of a device tensor" in failure.reason


@pytest.mark.parametrize("between", ["ends.copy_(x[:4])", "run(x, ends)"])
def test_values_that_may_have_changed_are_not_read(between: str) -> None:
    body = f"""
    def solve(x, ends):
        {between}
        return run(x, torch.empty_like(x))[:ends[-1].item()]
    """
    failure = found(body, task=asked(Permissions(in_place=True)))
    assert isinstance(failure, Failure)
    assert failure.verdict == "rejected"


def test_values_of_the_wrong_size_are_not_taken() -> None:
    with pytest.raises(AnswerRefused, match="sizes"):
        host_values.of(asked(), (VALUES[:-8],))
    with pytest.raises(AnswerRefused, match="sizes"):
        host_values.of(asked(), ())


def test_an_empty_input_has_no_values_and_says_so() -> None:
    task = asked()
    values = {**task.cases[0].values, "P": -1}
    empty = task.model_copy(
        update={"cases": (task.cases[0].model_copy(update={"values": values}),)}
    )
    body = """
    def solve(x, ends):
        assert ends.tolist() == []
        return run(x, torch.empty_like(x))
    """
    assert isinstance(answer(COPY + textwrap.dedent(body), empty, values=(b"",)), Bundle)
