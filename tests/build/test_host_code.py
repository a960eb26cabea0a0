"""What host code may do: each test is one habit of real code, and what the plan makes of it."""

from typing import Any

import pytest

from kernels.contract import (
    CasePlan,
    Choice,
    ElementType,
    FloatArgument,
    IntegerArgument,
    Launch,
    Layout,
    PointerArgument,
    Real,
    TensorMapArgument,
    TensorOp,
)
from tests.build.builds import COPY, COPYING, built, plan_of, task

ELEMENT_TYPES = ("float16", "float32", "float64", "bfloat16", "int32", "int8")


def names(case: CasePlan) -> list[str]:
    """Steps as operation names, `launch` or `choice`."""
    return [step.op if isinstance(step, TensorOp) else step.kind for step in case.steps]


def operation(body: str, name: str) -> TensorOp:
    """The only operation of that name in a plan."""
    (found,) = [s for s in plan_of(body).steps if isinstance(s, TensorOp) and s.op == name]
    return found


@pytest.mark.parametrize(
    "allocation",
    [
        "torch.empty_like(x)",
        "torch.empty(x.shape, device='cuda')",
        "torch.empty(100, device=x.device, dtype=x.dtype)",
        "x.new_empty(100)",
        "torch.empty_strided((100,), (1,), device=0)",
        "torch.empty(100, device=torch.device('cuda', torch.cuda.current_device()))",
    ],
)
def test_allocations_are_no_steps(allocation: str) -> None:
    case = plan_of(f"def solve(x): return run(x, {allocation})")
    assert names(case) == ["launch"]
    assert [(b.role, b.nbytes) for b in case.buffers] == [("input", 400), ("output", 400)]


@pytest.mark.parametrize(
    ("filling", "name", "arguments"),
    [
        ("torch.zeros(100, device='cuda')", "aten.zeros.default", ((100,),)),
        ("torch.full((100,), 0.5, device='cuda')", "aten.full.default", ((100,), Real.of(0.5))),
        ("torch.empty(100, device='cuda').fill_(3)", "aten.fill_.Scalar", (3,)),
        ("torch.arange(100., device='cuda')", "aten.arange.start_step", (0, Real.of(100), 1)),
    ],
)
def test_fills_are_steps_without_placement(filling: str, name: str, arguments: Any) -> None:
    step = operation(f"def solve(x): return run({filling}, torch.empty_like(x))", name)
    assert step.arguments[-len(arguments) :] == arguments
    assert step.keywords == {}
    assert step.outputs[0].shape == (100,)
    assert step.outputs[0].dtype == "float32"


def test_views_are_no_steps() -> None:
    case = plan_of("""
def solve(x):
    y = torch.empty(2, 100, device="cuda").t()[:, 1]
    run(x.view(10, 10).t().reshape(4, 25).flatten() if x.dim() > 1 else x.view(-1), y)
    a, b = torch.empty(200, device="cuda").split(100)
    return run(x.detach().unsqueeze(0).squeeze(), b)
""")
    assert names(case) == ["launch", "launch"]
    first, second = case.steps
    assert isinstance(first, Launch)
    assert isinstance(second, Launch)
    assert first.arguments[1] == PointerArgument(buffer=1, offset=400)
    assert second.arguments[1] == PointerArgument(buffer=2, offset=400)
    assert case.outputs[0].offset == 400


def test_movement_keeps_its_meaning() -> None:
    case = plan_of("""
def solve(x):
    wide = torch.nn.functional.pad(torch.cat([x.half(), x.half()]), (0, 8), value=1.0)
    return run(wide[:100].contiguous().float(), torch.stack([x, x])[1])
""")
    assert names(case) == [
        "aten._to_copy.default",
        "aten._to_copy.default",
        "aten.cat.default",
        "aten.constant_pad_nd.default",
        "aten._to_copy.default",
        "aten.stack.default",
        "launch",
    ]
    pad = case.steps[3]
    assert isinstance(pad, TensorOp)
    assert pad.arguments[1:] == ((0, 8), Real.of(1.0))
    assert pad.outputs[0].dtype == "float16"


def test_every_line_is_that_of_the_innermost_frame_in_the_submission() -> None:
    case = plan_of("def solve(x):\n    z = torch.zeros_like(x)\n    return run(x, z)")
    lines = [step.line for step in case.steps]
    source = (
        COPY + "def solve(x):\n    z = torch.zeros_like(x)\n    return run(x, z)"
    ).splitlines()
    assert [source[line - 1].strip() for line in lines if line] == [
        "z = torch.zeros_like(x)",
        "copy[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)",
    ]


@pytest.mark.parametrize(
    "upload",
    [
        "torch.tensor([1.0, 2.0, 3.0], device='cuda')",
        "torch.as_tensor([1.0, 2.0, 3.0]).cuda()",
        "torch.tensor([1.0, 2.0, 3.0]).to('cuda', non_blocking=True)",
        "x.new_tensor([1.0, 2.0, 3.0])",
        "torch.from_numpy(numpy.array([1, 2, 3], dtype='float32')).pin_memory().cuda()",
        "torch.arange(1., 4., device='cuda') * 1",
        "torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0])).cuda()",
    ],
)
def test_values_from_the_host_become_constants(upload: str) -> None:
    body = f"import numpy\ndef solve(x): run({upload}, x.new_empty(3)); return run(x, x.clone())"
    bundle = built(COPY + body, COPYING)
    constants = [b for b in bundle.plan.cases[0].buffers if b.role == "constant" and b.nbytes]
    contents = [bundle.blobs[b.content] for b in constants if b.content]
    assert bytes.fromhex("0000803f0000004000004040") in contents


def test_values_made_by_the_host_can_be_read_until_a_kernel_gets_them() -> None:
    case = plan_of("""
def solve(x):
    sizes = torch.tensor([3, 5], device="cuda")
    ends = torch.cumsum(sizes, 0)
    assert ends.tolist() == [3, 8] and int(torch.zeros(1, device="cuda")) == 0
    for _ in range(int(ends[1])):
        run(x, torch.empty_like(x))
    return run(x, torch.empty_like(x))
""")
    assert names(case) == ["aten.zeros.default"] + ["launch"] * 9
    assert case.unchanged == ()


def test_a_constant_read_after_a_launch_must_stay_unchanged() -> None:
    case = plan_of("""
def solve(x):
    sizes = torch.tensor([1.0, 2.0], device="cuda")
    run(x, sizes)
    assert sizes[1].item() == 2
    return run(x, torch.empty_like(x))
""")
    assert [case.buffers[index].role for index in case.unchanged] == ["constant"]


def test_scalars_in_every_width() -> None:
    case = plan_of("""
@triton.jit
def scalars(x_ptr, small, large, huge, flag, real, one, double: "fp64", nothing):
    tl.store(x_ptr, small + large + huge + flag + real + one + double)

def solve(x):
    y = torch.empty_like(x)
    scalars[(1,)](y, 7, 2**40, 2**63, True, 0.1, 1, 0.2, None)
    return y
""")
    (launch,) = case.launches()
    assert launch.arguments[1:] == (
        IntegerArgument(type="i32", value=7),
        IntegerArgument(type="i64", value=2**40),
        IntegerArgument(type="u64", value=2**63),
        IntegerArgument(type="u1", value=1),
        FloatArgument(type="fp32", value=Real.of(0.1)),
        FloatArgument(type="fp64", value=Real.of(0.2)),
    )


def test_tuples_reinterpreted_tensors_and_raw_addresses_are_arguments() -> None:
    case = plan_of("""
@triton.jit
def several(pair, bits_ptr, address, y_ptr):
    value = tl.load(pair[0]) + tl.load(pair[1]) + tl.load(bits_ptr).to(tl.float32)
    tl.store(y_ptr, value + tl.load(address.to(tl.pointer_type(tl.float32))))

def solve(x):
    y = torch.empty_like(x)
    several[(1,)]((x, y), triton.reinterpret(x, tl.int32), y[4:].data_ptr(), y)
    return y
""")
    (launch,) = case.launches()
    places = [(a.buffer, a.offset) for a in launch.arguments if isinstance(a, PointerArgument)]
    assert places == [(0, 0), (1, 0), (0, 0), (1, 16), (1, 0)]


def test_alignment_of_views_specialises_kernels() -> None:
    body = """
def solve(x):
    y = torch.empty_like(x)[:512]
    for start in (0, 1):
        copy[(1,)](x[start:], y, 512, BLOCK=512)
    return y
"""
    asked = task({"x": ("1024",)}, {"y": ("512",)}, {"N": 1, "dtype": "float32"})
    assert len(built(COPY + body, asked).plan.kernels) == 2


def test_an_empty_grid_launches_nothing() -> None:
    case = plan_of("""
def solve(x):
    copy[(0,)](x, x, 100, BLOCK=64)
    return run(x, torch.empty_like(x))
""")
    assert names(case) == ["launch"]


def test_heuristics_and_launch_attributes() -> None:
    bundle = built(
        COPY
        + """
@triton.heuristics({"BLOCK": lambda a: triton.next_power_of_2(a["count"])})
@triton.jit
def whole(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    whole[(1,)](x, y, 100, num_warps=2, num_ctas=2, launch_pdl=True, launch_cooperative_grid=True)
    return y
""",
        COPYING,
    )
    (kernel,) = bundle.plan.kernels.values()
    assert (kernel.warps, kernel.ctas, kernel.dependent, kernel.cooperative) == (2, 2, True, True)


TUNED = """
@triton.autotune([triton.Config({"BLOCK": b}, pre_hook=HOOK) for b in (32, 64)], key=["count"],
                 reset_to_zero=["y_ptr"], restore_value=["x_ptr"])
@triton.jit
def tuned(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    for _ in range(2):
        tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    assert tuned.best_config.kwargs["BLOCK"] in (32, 64)
    return y
"""


def test_alternatives_hold_their_hooks_and_equal_keys_share_a_choice() -> None:
    case = plan_of(TUNED.replace("HOOK", "lambda a: a['y_ptr'].zero_()"))
    assert names(case) == ["choice", "choice"]
    first, second = case.steps
    assert isinstance(first, Choice)
    assert isinstance(second, Choice)
    assert first.id == second.id
    assert [[s.kind for s in a.steps] for a in first.alternatives] == [["op", "launch"]] * 2
    assert [view.buffer for view in first.reset] == [1]
    assert [view.buffer for view in first.restore] == [0]


def test_known_values_are_forgotten_when_an_alternative_may_change_them() -> None:
    body = TUNED.replace("HOOK", "lambda a: FLAG.fill_(1)").replace(
        "def solve(x):", 'FLAG = torch.zeros(1, device="cuda")\ndef solve(x):'
    )
    case = plan_of(body)
    assert names(case) == ["choice", "choice"] or names(case)[0] == "aten.zeros.default"


def test_what_the_module_does_at_import_counts_only_if_a_case_needs_it() -> None:
    bundle = built(
        COPY
        + """
TABLE = torch.zeros(100, device="cuda")
UNUSED = torch.ones(100, device="cuda")
run(UNUSED, torch.empty_like(UNUSED))
CACHE = {}

def solve(x):
    CACHE.setdefault("workspace", torch.empty_like(x))
    return run(TABLE if x.numel() == 100 else x, CACHE["workspace"])
""",
        task({"x": ("N",)}, {"y": ("N",)}, *({"N": n, "dtype": "float32"} for n in (100, 200))),
    )
    assert [names(case) for case in bundle.plan.cases] == [
        ["aten.zeros.default", "launch"],
        ["launch"],
    ]
    assert [b.nbytes for b in bundle.plan.cases[1].buffers if b.nbytes] == [800, 800]


def test_custom_operations_run_their_python_body() -> None:
    case = plan_of("""
from torch import Tensor

@torch.library.custom_op("example::copied", mutates_args=())
def copied(x: Tensor) -> Tensor:
    assert x.is_cuda
    return run(x, torch.empty_like(x))

@copied.register_fake
def _(x):
    return torch.empty_like(x)

@torch.library.triton_op("example::again", mutates_args={})
def again(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    torch.library.wrap_triton(copy)[(2,)](x, y, 100, BLOCK=64)
    return y

library = torch.library.Library("older", "DEF")
library.define("plain(Tensor x) -> Tensor")
library.impl("plain", lambda x: run(x, torch.empty_like(x)), "CUDA")

def solve(x):
    return torch.ops.older.plain(again(copied(x)))
""")
    assert names(case) == ["launch"] * 3


def test_threads_streams_and_graphs() -> None:
    case = plan_of("""
from concurrent.futures import ThreadPoolExecutor

def solve(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(run, x, y).result()
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(side), torch.cuda.graph(graph):
        run(y, z)
    graph.replay()
    graph.replay()
    torch.cuda.current_stream().wait_stream(side)
    return z
""")
    assert names(case) == ["launch"] * 3


def test_in_place_results_lie_in_the_input() -> None:
    case = plan_of("def solve(x): return run(x, x)")
    assert [buffer.role for buffer in case.buffers] == ["input"]
    assert case.outputs[0].buffer == 0


def test_layouts_reach_the_host_code() -> None:
    asked = task({"x": ("M", "N")}, {"y": ("M", "N")}, {"M": 4, "N": 6, "dtype": "float16"})
    padded = asked.model_copy(
        update={"cases": (asked.cases[0].model_copy(update={"layouts": {"x": Layout.OFFSET}}),)}
    )
    body = """
def solve(x):
    assert x.storage_offset() == 1 and x.data_ptr() % 16 == 2, x.data_ptr()
    return run(x, torch.empty_like(x))
"""
    case = built(COPY + body, padded).plan.cases[0]
    (launch,) = case.launches()
    assert launch.arguments[0] == PointerArgument(buffer=0, offset=2)


def test_sums_keep_their_element_type() -> None:
    from kernels.contract import Permissions

    asked = task(
        {"x": ("N", "N")},
        {"y": ("N",)},
        {"N": 64, "dtype": "float16"},
        permissions=Permissions(finishing=True),
    )
    case = plan_of(
        """
def solve(x):
    parts = run(x, torch.empty_like(x))
    return parts.sum(dim=0, dtype=torch.float32).to(torch.float16)
""",
        asked,
    )
    step = case.steps[1]
    assert isinstance(step, TensorOp)
    assert step.op == "aten.sum.dim_IntList"
    assert step.arguments[1:] == ((0,),)
    assert step.keywords == {"dtype": ElementType(dtype=step.outputs[0].dtype)}


def test_host_code_may_ask_for_the_devices_facts() -> None:
    plan_of("""
from triton.runtime import driver

def solve(x):
    assert triton.runtime.driver.active.get_current_target().arch == 90
    assert driver.active.utils.get_device_properties(0)["multiprocessor_count"] == 132
    assert torch.cuda.get_device_capability() == (9, 0) and torch.version.hip is None
    assert isinstance(x, torch.Tensor) and type(x) is torch.Tensor and x.is_contiguous()
    assert "device" in repr(x) or "tensor" in repr(x)
    assert not torch.is_grad_enabled() or not x.requires_grad
    return run(x, torch.empty_like(x))
""")


def test_spills_are_those_that_the_assembler_counts() -> None:
    bundle = built(
        COPY
        + """
@triton.jit
def wide(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.arange(0, BLOCK), x / tl.sum(x) + tl.max(x))

def solve(x):
    y = torch.empty_like(x)
    wide[(1,)](x, y, BLOCK=x.numel(), num_warps=1)
    return y
""",
        task({"x": ("N",)}, {"y": ("N",)}, *({"N": n, "dtype": "float32"} for n in (1024, 16384))),
    )
    few, many = sorted(
        (kernel.resources for kernel in bundle.plan.kernels.values()), key=lambda r: r.stack_bytes
    )
    assert (few.spill_store_bytes, few.spill_load_bytes, few.stack_bytes) == (0, 0, 0)
    assert many.spill_store_bytes
    assert many.spill_load_bytes
    assert many.stack_bytes > 0


def test_code_generated_by_torchs_compiler() -> None:
    case = plan_of("""
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from torch._C._dynamo.guards import assert_size_stride

empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor

def solve(x):
    assert_size_stride(x, (100,), (1,))
    with torch.cuda._DeviceGuard(0):
        torch.cuda.set_device(0)
        buffer = empty_strided_cuda((10, 10), (10, 1), torch.float32)
        assert get_raw_stream(0) == 0
        return run(x, reinterpret_tensor(buffer, (100,), (1,), 0))
""")
    assert names(case) == ["launch"]
    assert case.buffers[1].nbytes == 400


def test_gluon_and_block_pointers() -> None:
    case = plan_of("""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def gluon_copy(x_ptr, y_ptr, count, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    inside = offsets < count
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets, mask=inside), mask=inside)

@triton.jit
def block_copy(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    x = tl.make_block_ptr(x_ptr, (count,), (1,), (start,), (BLOCK,), (0,))
    y = tl.make_block_ptr(y_ptr, (count,), (1,), (start,), (BLOCK,), (0,))
    tl.store(y, tl.load(x, boundary_check=(0,)), boundary_check=(0,))

def solve(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    gluon_copy[(1,)](x, y, 100, 128)
    block_copy[(1,)](y, z, 100, 128)
    return z
""")
    assert names(case) == ["launch", "launch"]


def test_descriptors_become_maps_followed_by_sizes_and_strides() -> None:
    asked = task({"x": ("M", "N")}, {"y": ("M", "N")}, {"M": 96, "N": 128, "dtype": "float16"})
    case = plan_of(
        """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def move(source, unused, target, y_ptr):
    target.store([0, 0], source.load([0, 0]))

def solve(x):
    y = torch.empty_like(x)
    make = TensorDescriptor.from_tensor
    move[(1,)](make(x[32:], [64, 64], padding="nan"), make(x, [32, 64]), make(y, [64, 64]), y)
    return y
""",
        asked,
    )
    (launch,) = case.launches()
    source = launch.arguments[0]
    assert source == TensorMapArgument(
        buffer=0,
        offset=32 * 128 * 2,
        shape=(64, 128),
        strides=(128, 1),
        box=(64, 64),
        element_type=6,
        element_bytes=2,
        swizzle=3,
        nan_fill=True,
    )
    assert launch.arguments[1:5] == (
        IntegerArgument(type="i32", value=64),
        IntegerArgument(type="i32", value=128),
        IntegerArgument(type="i64", value=128),
        IntegerArgument(type="i64", value=1),
    )
    assert [a.kind for a in launch.arguments[5::5]] == ["tensor_map", "tensor_map", "pointer"]


def test_bfloat16_has_another_number_in_the_drivers_api() -> None:
    body = """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def move(source, y_ptr):
    tl.store(y_ptr + tl.arange(0, 64), source.load([0]))

def solve(x):
    y = torch.empty_like(x)
    move[(1,)](TensorDescriptor.from_tensor(x, [64]), y)
    return y
"""
    asked = task({"x": ("N",)}, {"y": ("N",)}, *({"N": 64, "dtype": d} for d in ELEMENT_TYPES))
    cases = built(COPY + body, asked).plan.cases
    maps = [launch.arguments[0] for case in cases for launch in case.launches()]
    numbers = [m.element_type for m in maps if isinstance(m, TensorMapArgument)]
    # CUtensorMapDataType: FLOAT16 6, FLOAT32 7, FLOAT64 8, BFLOAT16 9, INT32 3, UINT8 0.
    assert numbers == [6, 7, 8, 9, 3, 0]
