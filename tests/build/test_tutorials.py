"""Host code in the manner of Triton's tutorials, unchanged by anything that this project asks."""

from typing import Any

from kernels.contract import (
    Bundle,
    Choice,
    Launch,
    PointerArgument,
    TensorMapArgument,
    TensorOp,
    cubin,
)
from tests.build.builds import built, submission, task

HALF = "float16"


def build(name: str, inputs: Any, outputs: Any, *cases: dict[str, Any]) -> Bundle:
    bundle = built(submission(name), task(inputs, outputs, *cases))
    cubin.check(bundle)
    return bundle


def test_vector_add() -> None:
    shape = {"x": ("N",), "y": ("N",)}
    bundle = build(
        "vector_add", shape, {"sum": ("N",)}, {"N": 1000, "dtype": HALF}, {"N": 256, "dtype": HALF}
    )
    first, second = bundle.plan.cases
    assert [step.grid for step in first.launches()] == [(4, 1, 1)]
    assert [step.grid for step in second.launches()] == [(1, 1, 1)]
    assert [buffer.role for buffer in first.buffers] == ["input", "input", "output"]
    launch = first.steps[0]
    assert isinstance(launch, Launch)
    assert launch.line is not None
    assert "add[lambda meta" in submission("vector_add").splitlines()[launch.line - 1]


def test_softmax_with_occupancy_from_registers() -> None:
    shape = {"x": ("M", "N")}
    bundle = build("softmax_occupancy", shape, {"y": ("M", "N")}, {"M": 9000, "N": 781,
                                                                   "dtype": "float32"})  # fmt: skip
    (launch,) = bundle.plan.cases[0].launches()
    kernel = bundle.plan.kernels[launch.kernel]
    registers = kernel.resources.registers
    assert 16 < registers < 256
    assert launch.grid == (132 * (65536 // (registers * 32 * 8)), 1, 1)
    assert kernel.warps == 8
    assert set(kernel.texts) == {"ttir", "ttgir", "ptx"}


def test_matmul_with_autotuning() -> None:
    inputs = {"a": ("M", "K"), "b": ("K", "N")}
    bundle = build(
        "matmul_autotuned", inputs, {"c": ("M", "N")}, {"M": 256, "N": 512, "K": 64, "dtype": HALF}
    )
    case = bundle.plan.cases[0]
    (choice,) = case.steps
    assert isinstance(choice, Choice)
    assert choice.function == "product"
    grids = [step.grid for a in choice.alternatives for step in a.steps if isinstance(step, Launch)]
    assert grids == [(8 * 16, 1, 1), (4 * 16, 1, 1)]
    assert "BLOCK_M: 32" in choice.alternatives[0].config
    (dropped,) = choice.dropped
    assert "out of resource: shared memory" in dropped.reason
    assert case.notes == ("product: 2 of 3 configurations are kept",)


def test_layer_norm_forward_and_backward() -> None:
    inputs = {"x": ("M", "N"), "w": ("N",), "dy": ("M", "N")}
    bundle = build(
        "layer_norm", inputs, {"y": ("M", "N"), "dw": ("N",)}, {"M": 12, "N": 96, "dtype": HALF}
    )
    case = bundle.plan.cases[0]
    kinds = [
        step.op if isinstance(step, TensorOp) else bundle.plan.kernels[step.kernel].function
        for step in case.steps
        if not isinstance(step, Choice)
    ]
    assert kinds == [
        "forward_kernel",
        "aten.zeros.default",
        "aten.zeros.default",
        "partial_kernel",
        "sum_kernel",
    ]
    assert [view.shape for view in case.outputs] == [(12, 96), (96,)]


def test_attention_with_host_descriptors() -> None:
    shape = ("H", "L", "D")
    bundle = build(
        "attention",
        {"q": shape, "k": shape, "v": shape},
        {"o": shape},
        {"H": 4, "L": 256, "D": 64, "dtype": HALF},
    )
    (choice,) = bundle.plan.cases[0].steps
    assert isinstance(choice, Choice)
    blocks = []
    for alternative in choice.alternatives:
        (launch,) = alternative.steps
        assert isinstance(launch, Launch)
        maps = [a for a in launch.arguments if isinstance(a, TensorMapArgument)]
        assert len(maps) == 4
        assert all(m.shape == (4 * 256, 64) and m.element_bytes == 2 for m in maps)
        blocks.append((maps[0].box[0], maps[1].box[0]))
    assert blocks == [(64, 32), (64, 64), (128, 64), (128, 128)]


def test_persistent_matmul_with_device_descriptors() -> None:
    inputs = {"a": ("M", "K"), "b": ("K", "N")}
    bundle = build(
        "matmul_persistent", inputs, {"c": ("M", "N")}, {"M": 512, "N": 512, "K": 256,
                                                         "dtype": HALF}
    )  # fmt: skip
    (launch,) = bundle.plan.cases[0].launches()
    kernel = bundle.plan.kernels[launch.kernel]
    assert launch.grid == (132, 1, 1)
    assert kernel.global_scratch_bytes >= 3 * 128
    assert kernel.global_scratch_align >= 64


def test_pointers_in_constants_become_relocations() -> None:
    bundle = build(
        "grouped_product",
        {"a": ("G", "32", "K"), "b": ("G", "K", "32")},
        {"c": ("G", "32", "32")},
        {"G": 3, "K": 64, "dtype": HALF},
    )
    case = bundle.plan.cases[0]
    constants = [buffer for buffer in case.buffers if buffer.role == "constant"]
    assert [[(r.at, r.buffer, r.offset) for r in c.relocations] for c in constants] == [
        [(0, 0, 0), (8, 0, 32 * 64 * 2), (16, 0, 2 * 32 * 64 * 2)],
        [(0, 1, 0), (8, 1, 32 * 64 * 2), (16, 1, 2 * 32 * 64 * 2)],
        [(0, 4, 0), (8, 4, 32 * 32 * 2), (16, 4, 2 * 32 * 32 * 2)],
    ]
    assert case.buffers[4].role == "output"
    (launch,) = case.launches()
    pointers = [a.buffer for a in launch.arguments if isinstance(a, PointerArgument)]
    assert [case.buffers[i].role for i in pointers if i is not None] == ["constant"] * 3


def test_equal_submissions_give_equal_bundles() -> None:
    asked = task({"x": ("M", "N")}, {"y": ("M", "N")}, {"M": 64, "N": 128, "dtype": "float32"})
    first, second = (built(submission("softmax_occupancy"), asked) for _ in range(2))
    assert first.plan.cases == second.plan.cases
    assert set(first.plan.kernels) == set(second.plan.kernels)
