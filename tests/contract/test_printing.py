"""A plan's printable form and its stable name, and the command that shows them."""

from pathlib import Path

from click.testing import CliRunner

from kerneljudge.__main__ import main
from kernels.contract import (
    Alternative,
    Buffer,
    Choice,
    Dropped,
    FloatArgument,
    IntegerArgument,
    PointerArgument,
    Real,
    TensorMapArgument,
    TensorOp,
)
from kernels.contract.printing import plan_text
from tests.contract import examples as a

MAP = TensorMapArgument(
    buffer=0, offset=16, shape=(1, 2), strides=(4, 1), box=(1, 2), element_type=7,
    element_bytes=4, swizzle=0,
)  # fmt: skip
ARGUMENTS = (
    PointerArgument(buffer=0),
    PointerArgument(buffer=1, offset=8),
    PointerArgument(buffer=None),
    IntegerArgument(type="i32", value=-3),
    FloatArgument(type="fp32", value=Real.of(0.5)),
    MAP,
)
CHOICE = Choice(
    id=0,
    function="rows",
    alternatives=(Alternative(config="BLOCK: 64", steps=(a.launch(line=7),)),),
    dropped=(Dropped(config="BLOCK: 9\x1b[31m", reason="out of resources"),),
    reset=(a.view(),),
    line=6,
)
COPY = TensorOp(
    op="aten.copy_.default",
    arguments=(a.view(), a.view(buffer=0, shape=(3, 2), strides=(1, 3))),
    outputs=(a.view(),),
)


def test_everything_is_shown() -> None:
    case = a.case_plan(
        buffers=(
            Buffer(nbytes=64, role="input", name="x"),
            Buffer(nbytes=24, role="output"),
        ),
        steps=(a.launch(arguments=ARGUMENTS, grid=(4, 2, 1), line=3), CHOICE, COPY),
        notes=("one note",),
    )
    lines = [line.strip() for line in plan_text(a.plan(cases=(case,))).splitlines()]
    for expected in (
        "for H200, sm_90a, made by Triton 3.7.1",
        f"k0  softmax_kernel: 4 warps, 3 stages; cubin {a.SHA[:12]}",
        "32 registers, stack 0 B, spills unknown, shared 0 + 0 B",
        "b0  input x, 64 B",
        "1  k0[4, 2, 1](b0, b1 + 8, null, i32 -3, fp32 0.5, "
        "map of b0 + 16 [1, 2] strides [4, 1] box [1, 2])  # line 3",
        "2  choice 0 of rows  # line 6",
        "zero before each trial: b1 float32[2, 3]",
        "if BLOCK: 64",
        "k0[1, 1, 1](b0, b1)  # line 7",
        "dropped BLOCK: 9\\x1b[31m: out of resources",
        "3  b1 float32[2, 3] = aten.copy_.default(b1 float32[2, 3], "
        "b0 float32[3, 2] strides [1, 3])",
        "result b1 float32[2, 3]",
        "note: one note",
    ):
        assert expected in lines


def test_the_name_of_a_plan_follows_from_what_it_does() -> None:
    plan = a.plan()
    assert type(plan).model_validate_json(plan.model_dump_json()).digest == plan.digest
    told = a.bundle().with_texts("sass", {a.SHA: b"listing"})
    assert told.plan != plan
    assert told.plan.digest == plan.digest
    assert a.plan(cases=(a.case_plan(steps=(a.launch(grid=(2, 1, 1)),)),)).digest != plan.digest
    assert a.plan(kernels={a.SHA: a.kernel(warps=8)}).digest != plan.digest


def test_the_command_prints_a_plan_or_says_why_not(tmp_path: Path) -> None:
    file = tmp_path / "plan"
    file.write_bytes(a.bundle().pack())
    shown = CliRunner().invoke(main, ["plan", "show", str(file)])
    assert (shown.exit_code, shown.output) == (0, plan_text(a.plan()))
    file.write_bytes(b"something")
    refused = CliRunner().invoke(main, ["plan", "show", str(file)])
    assert refused.exit_code == 1
    assert "no launch plan" in refused.output
