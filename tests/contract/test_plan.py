"""Impossible plans cannot be made."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from kernels.contract import (
    Alternative,
    Buffer,
    CasePlan,
    Choice,
    DType,
    IntegerArgument,
    Launch,
    PointerArgument,
    Real,
    TensorMapArgument,
    TensorOp,
)
from tests.contract import examples as a


def choice(*configs: str, id: int = 0) -> Choice:
    alternatives = tuple(Alternative(config=config, steps=(a.launch(),)) for config in configs)
    return Choice(id=id, function="f", alternatives=alternatives)


def tensor_map(**changes: object) -> TensorMapArgument:
    values: dict[str, object] = {
        "buffer": 0, "offset": 0, "shape": (64, 64), "strides": (64, 1), "box": (64, 64),
        "element_type": 6, "element_bytes": 2, "swizzle": 3,
    }  # fmt: skip
    return TensorMapArgument.model_validate(values | changes)


IMPOSSIBLE: dict[str, tuple[Callable[[], object], str]] = {
    "view behind its buffer": (lambda: a.case_plan(outputs=(a.view(offset=4),)), "outside buffer"),
    "view of a buffer that is not there": (
        lambda: a.case_plan(outputs=(a.view(buffer=7),)),
        "no buffer 7",
    ),
    "strides that leave the buffer": (
        lambda: a.case_plan(outputs=(a.view(strides=(2**40, 1)),)),
        "outside buffer",
    ),
    "negative stride": (lambda: a.view(strides=(-3, 1)), "greater than or equal"),
    "negative size": (lambda: a.view(shape=(-2, 3)), "greater than or equal"),
    "misaligned view": (lambda: a.view(offset=2), "multiple of its element size"),
    "stride missing": (lambda: a.view(strides=(1,)), "one stride per dimension"),
    "no launch": (
        lambda: a.case_plan(
            steps=(TensorOp(op="aten.zero_.default", arguments=(a.view(),), outputs=(a.view(),)),)
        ),
        "no Triton kernel",
    ),
    "unknown operation": (
        lambda: TensorOp(op="aten.mm.default", arguments=(), outputs=(a.view(),)),
        "not allowed",
    ),
    "empty grid": (lambda: a.launch(grid=(0, 1, 1)), "limits"),
    "grid too deep": (lambda: a.launch(grid=(1, 65536, 1)), "limits"),
    "grid over int32": (lambda: a.launch(grid=(65535, 32768, 2)), "would not launch"),
    "unknown kernel": (
        lambda: a.plan(cases=(a.case_plan(steps=(a.launch(kernel="0" * 64),)),)),
        "not in the plan",
    ),
    "pointer behind its buffer": (
        lambda: a.case_plan(
            steps=(a.launch(arguments=(PointerArgument(buffer=0, offset=25),)),),
        ),
        "outside buffer",
    ),
    "tensor map behind its buffer": (
        lambda: a.case_plan(steps=(a.launch(arguments=(tensor_map(),)),)),
        "outside buffer",
    ),
    "tensor map at an odd address": (lambda: tensor_map(offset=8), "multiples of 16"),
    "tensor map with gaps": (lambda: tensor_map(strides=(64, 2)), "contiguous"),
    "integer too wide": (lambda: IntegerArgument(type="i32", value=2**31), "does not fit"),
    "no float": (lambda: Real(hex="1,5"), "hexadecimal"),
    "two kernels cases of one name": (
        lambda: a.plan(cases=(a.case_plan(), a.case_plan())),
        "share a name",
    ),
    "choice that changes": (
        lambda: a.case_plan(steps=(choice("a", "b"), choice("a", "c"))),
        "different alternatives",
    ),
    "memory over the limit": (
        lambda: a.case_plan(
            buffers=(
                Buffer(nbytes=40 << 30, role="input", name="x"),
                Buffer(nbytes=40 << 30, role="output"),
            )
        ),
        "needs more than",
    ),
    "input without a name": (lambda: Buffer(nbytes=4, role="input"), "named"),
    "constant without content": (lambda: Buffer(nbytes=4, role="constant"), "content"),
    "relocation outside": (
        lambda: Buffer.model_validate(
            {
                "nbytes": 8,
                "role": "constant",
                "content": a.SHA,
                "relocations": [{"at": 1, "buffer": 0, "offset": 0}],
            }
        ),
        "outside its constant",
    ),
    "scratch over the limit": (
        lambda: a.plan(
            kernels={a.SHA: a.kernel(global_scratch_bytes=1 << 20)},
            cases=(a.case_plan(steps=(a.launch(grid=(2048, 1, 1)),)),),
        ),
        "global scratch",
    ),
    "too many steps": (
        lambda: a.case_plan(steps=(a.launch(),) * 2001),
        "at most 2000",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_plans_are_refused(name: str) -> None:
    make, message = IMPOSSIBLE[name]
    with pytest.raises(ValidationError, match=message):
        make()


def test_a_plan_survives_json() -> None:
    plan = a.plan()
    assert type(plan).model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize("value", [0.1, -0.0, float("inf"), float("-inf"), 2.0**-1074])
def test_numbers_are_exact(value: float) -> None:
    again = Real.model_validate_json(Real.of(value).model_dump_json())
    assert repr(again.value) == repr(value)


def test_alternatives_count_as_launches() -> None:
    plan = a.case_plan(steps=(choice("a", "b"), choice("a", "b")))
    assert len(list(plan.launches())) == 4


def test_operations_know_their_views() -> None:
    op = TensorOp(
        op="aten.cat.default",
        arguments=((a.view(), a.view(buffer=0)), 0),
        outputs=(a.view(shape=(1, 3)),),
    )
    assert [view.buffer for view in op.views()] == [1, 1, 0]


def test_an_empty_view_needs_no_bytes() -> None:
    empty = a.view(shape=(0, 3), offset=24)
    assert isinstance(a.case_plan(outputs=(empty,)), CasePlan)
    assert empty.end == 24
    assert empty.numel == 0


def test_element_types_survive_a_union() -> None:
    op = TensorOp(
        op="aten._to_copy.default",
        arguments=(a.view(),),
        keywords={"dtype": {"dtype": "float16"}},
        outputs=(a.view(dtype=DType.FLOAT16),),
    )
    assert TensorOp.model_validate_json(op.model_dump_json()) == op
    assert isinstance(Launch.model_validate_json(a.launch().model_dump_json()), Launch)
