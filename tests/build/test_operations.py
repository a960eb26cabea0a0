"""Recorded operations say all there is to say: replayed from JSON they give torch's own values."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from pydantic import TypeAdapter

import workers.build.prewarm  # noqa: F401  else every child imports torch._dynamo
from kernels.contract import ElementType, Real, TensorOp, View
from kernels.contract.ops import FINISHING, KNOWN
from tests.forked import forked
from workers.build.dispatch import RecordingMode
from workers.build.recorder import Recorder
from workers.measure import ops

aten = torch.ops.aten
Tensor = torch.Tensor
Host = Callable[[Tensor], Tensor]

EXAMPLES: dict[str, Host] = {
    "aten.arange.start_step": lambda x: torch.arange(2, 8, 2, device=x.device),
    "aten.cat.default": lambda x: torch.cat([x, x.half(), x[:1]], dim=0),
    "aten.clone.default": lambda x: x.t().contiguous(),
    "aten._to_copy.default": lambda x: x.to(torch.float16),
    "aten.constant_pad_nd.default": lambda x: torch.nn.functional.pad(x, (1, 2, 0, 1), value=2.5),
    "aten.copy_.default": lambda x: torch.empty_like(x).copy_(x[0]),
    "aten.fill_.Scalar": lambda x: torch.empty_like(x).fill_(-math.inf),
    "aten.full.default": lambda x: torch.full((2, 3), 7, device=x.device, dtype=torch.int32),
    "aten.full_like.default": lambda x: torch.full_like(x, 0.1),
    "aten.new_full.default": lambda x: x.new_full((3,), 4, dtype=torch.int64),
    "aten.new_ones.default": lambda x: x.new_ones((2, 2)),
    "aten.new_zeros.default": lambda x: x.new_zeros(5),
    "aten.ones.default": lambda x: torch.ones(3, 2, device=x.device, dtype=torch.bool),
    "aten.ones_like.default": lambda x: torch.ones_like(x, dtype=torch.float16),
    "aten.stack.default": lambda x: torch.stack([x, x], dim=-1),
    "aten.zero_.default": lambda x: torch.ones_like(x)[:, 1:].zero_(),
    "aten.zeros.default": lambda x: torch.zeros(4, device=x.device),
    "aten.zeros_like.default": lambda x: torch.zeros_like(x),
    "aten.add.Tensor": lambda x: torch.add(x, x.t().t(), alpha=3),
    "aten.add_.Tensor": lambda x: x.clone().add_(1.5),
    "aten.amax.default": lambda x: torch.amax(x, dim=(1,), keepdim=True),
    "aten.amin.default": lambda x: x.amin(),
    "aten.div.Tensor": lambda x: x / torch.tensor(3.0),
    "aten.div_.Tensor": lambda x: x.clone().div_(x[0]),
    "aten.mul.Tensor": lambda x: 2 * x,
    "aten.mul_.Tensor": lambda x: x.clone().mul_(True),
    "aten.mean.default": lambda x: x.mean(),
    "aten.mean.dim": lambda x: x.half().mean(dim=1, keepdim=True, dtype=torch.float32),
    "aten.neg_.default": lambda x: x.clone().neg_(),
    "aten.reciprocal.default": lambda x: 3 / x,
    "aten.rsub.Scalar": lambda x: 1 - x,
    "aten.neg.default": lambda x: -x,
    "aten.sub.Tensor": lambda x: x - 1,
    "aten.sub_.Tensor": lambda x: x.clone().sub_(x, alpha=0.5),
    "aten.sum.default": lambda x: x.sum(),
    "aten.sum.dim_IntList": lambda x: x.half().sum(dim=0, keepdim=True, dtype=torch.float32),
}


def test_every_known_operation_has_an_example() -> None:
    assert set(EXAMPLES) == KNOWN


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_recorded_operation_replays_to_torchs_values(name: str) -> None:
    assert name in replayed(EXAMPLES[name])


@pytest.mark.parametrize(
    ("host", "steps"),
    [
        (lambda x: x.repeat(2, 1, 2), ["copy_.default"]),
        (lambda x: torch.tile(x, (2,)), ["copy_.default"]),
        (lambda x: torch.roll(x, (1, -1), (0, 1)), ["cat.default"] * 2),
        (lambda x: torch.roll(x, 5), ["cat.default"]),
        (lambda x: set_first(x.clone()), ["clone.default", "full.default", "copy_.default"]),
        (lambda x: torch.zeros(2, 3, out=x.new_ones(2, 3)), None),
        (lambda x: torch.cat([x, x], out=x.new_ones(8, 3)), None),
        (lambda x: torch.add(x, 1, out=torch.ones_like(x)), None),
        (lambda x: x.max() - x.min(), ["amax.default", "amin.default", "sub.Tensor"]),
        (lambda x: torch.rsub(x, x[0], alpha=1), ["sub.Tensor"]),
        (lambda x: torch.slice_scatter(x, x[:2], 0, 1, 3), ["clone.default", "copy_.default"]),
        (lambda x: torch.select_scatter(x, x[0], 0, 1), ["clone.default", "copy_.default"]),
        (lambda x: x.diagonal_scatter(x[0], 0), ["clone.default", "copy_.default"]),
        (lambda x: torch.diag(x[0], 1), ["new_zeros.default", "copy_.default"]),
        (lambda x: torch.diag_embed(x, dim1=0, dim2=2), ["new_zeros.default", "copy_.default"]),
        (lambda x: aten.block_diag([x, x[0]]), ["new_zeros.default", *["copy_.default"] * 2]),
        (
            lambda x: torch._foreach_add([x, x], [x, -x], alpha=2)[1],
            ["neg.default", *["add.Tensor"] * 2],
        ),
        (lambda x: filled([x.clone()]), ["clone.default", "zero_.default"]),
    ],
)
def test_an_operation_in_terms_of_others_replays_to_torchs_values(
    host: Host, steps: list[str] | None
) -> None:
    found = replayed(host)
    assert steps is None or found == [f"aten.{step}" for step in steps]


def filled(tensors: list[Tensor]) -> Tensor:
    torch._foreach_zero_(tensors)
    return tensors[0]


def set_first(x: Tensor) -> Tensor:
    x[0] = 1.5
    return x


def test_out_must_have_the_results_shape() -> None:
    def refused() -> str:
        try:
            recorded(lambda x: torch.cat([x, x], out=torch.empty_like(x)))
        except RuntimeError as error:
            return str(error)
        return ""

    assert forked(refused) == "out has shape (4, 3), the result has (8, 3)"


def replayed(host: Host) -> list[str]:
    """Names of the operations that host code records; AssertionError if they replay otherwise."""
    values = torch.arange(12, dtype=torch.float32).reshape(4, 3) - 5.25
    steps, view, sizes = forked(lambda: recorded(host))
    operations = TypeAdapter(list[TensorOp]).validate_json(steps)
    expected = host(values)
    for carry_out in (replay, measured):
        buffers = [torch.full((size,), 0xAB, dtype=torch.uint8) for size in sizes]
        buffers[0].copy_(values.view(torch.uint8).flatten())
        for operation in operations:
            carry_out(operation, buffers)
        result = tensor(View.model_validate_json(view), buffers)
        assert result.dtype == expected.dtype
        assert torch.equal(result, expected)
    return [operation.op for operation in operations]


@pytest.mark.parametrize("name", sorted(FINISHING))
def test_finishing_needs_permission(name: str) -> None:
    def refused() -> str:
        try:
            recorded(EXAMPLES[name], finishing=False)
        except RuntimeError as error:
            return str(error)
        return ""

    assert "is not allowed in host code" in forked(refused)


def recorded(host: Host, finishing: bool = True) -> tuple[bytes, str, list[int]]:
    """Operations of host code on a 4 x 3 tensor, where its result lies, and all buffers' sizes."""
    recorder = Recorder(lambda: None)
    x = torch.empty(4, 3, device="meta")
    recorder.memory.of(x)
    with RecordingMode(recorder, finishing, list):
        result = host(x)
    view = recorder.memory.view(result).model_dump_json()
    sizes = [allocation.nbytes for allocation in recorder.memory.allocations]
    return TypeAdapter(list[Any]).dump_json(recorder.steps), view, sizes


def replay(operation: TensorOp, buffers: list[Tensor]) -> None:
    """Carry out an operation on the buffers and put its result where the plan says."""
    package, base, overload = operation.op.split(".")
    function = getattr(getattr(getattr(torch.ops, package), base), overload)
    arguments = [decoded(argument, buffers) for argument in operation.arguments]
    keywords = {key: decoded(value, buffers) for key, value in operation.keywords.items()}
    target = tensor(operation.outputs[0], buffers)
    result = function(*arguments, **keywords)
    if not base.endswith("_"):
        target.copy_(result)


def measured(operation: TensorOp, buffers: list[Tensor]) -> None:
    """Carry out an operation as the measurer does."""
    ops.bind(operation, lambda view: tensor(view, buffers))()


def decoded(argument: Any, buffers: list[Tensor]) -> Any:
    """A Python value for an argument of a plan."""
    if isinstance(argument, tuple):
        return [decoded(item, buffers) for item in argument]
    if isinstance(argument, View):
        return tensor(argument, buffers)
    if isinstance(argument, ElementType):
        return getattr(torch, argument.dtype.value)
    return argument.value if isinstance(argument, Real) else argument


def tensor(view: View, buffers: list[Tensor]) -> Tensor:
    """The tensor that a view names."""
    dtype = getattr(torch, view.dtype.value)
    storage = buffers[view.buffer].untyped_storage()
    place = view.offset // view.dtype.itemsize
    return torch.empty(0, dtype=dtype).set_(storage, place, view.shape, view.strides)
