"""What kernels get: arguments, alternatives, descriptors, and what the assembler says."""

import pytest

from kernels.contract import (
    Choice,
    FloatArgument,
    IntegerArgument,
    PointerArgument,
    Real,
    TensorMapArgument,
    limits,
)
from tests.build.builds import AFTER_COPY, COPY, COPYING, built, failed, names, plan_of, task

ELEMENT_TYPES = ("float16", "float32", "float64", "bfloat16", "int32", "int8")


@pytest.mark.parametrize(
    "apart",
    [
        "y.data_ptr() - x.data_ptr()",
        "(x[3:].data_ptr() - y.data_ptr()) // 4",
        "(y.data_ptr() - x[3:].data_ptr()) // 4",
        "x.data_ptr() - y[99:].data_ptr()",
    ],
)
def test_how_far_tensors_lie_apart_is_no_argument(apart: str) -> None:
    failure = failed(f"""
def solve(x):
    y = torch.empty_like(x)
    copy[(2,)](x, y, 1 << 40, BLOCK=64)
    copy[(2,)](x, y, {apart}, BLOCK=64)
    return y
""")
    assert failure.reason.startswith("argument 2 is how far two tensors lie apart")
    assert failure.diagnostics[0].line == AFTER_COPY + 4


def test_how_many_elements_there_are_is_an_argument_for_the_largest_tensors() -> None:
    most = task({"x": ("N",)}, {"y": ("N",)}, {"N": limits.ELEMENTS, "dtype": "bfloat16"})
    (launch,) = plan_of("solve = lambda x: run(x, torch.empty_like(x))\n", most).launches()
    assert IntegerArgument(type="i32", value=limits.ELEMENTS) in launch.arguments


def test_honest_numbers_beside_large_tensors_are_no_distance() -> None:
    case = plan_of("""
@triton.jit
def sized(x_ptr, count: "i64"):
    tl.store(x_ptr, count)

def solve(x):
    tensors = [torch.empty(gib, 1 << 30, dtype=torch.int8, device="cuda") for gib in (5, 4, 3, 2)]
    for tensor in [x, *tensors]:
        for other in [x, *tensors]:
            for size in (1, 2, 4, 8):
                sized[(1,)](tensor, tensor.numel() * other.shape[0] // size)
    for count in [*range(2**29, 2**35, 2**29 // 5), *(2**power for power in range(63))]:
        sized[(1,)](x, count)
    return run(x, torch.empty_like(x))
""")
    sized = [launch for launch in case.launches() if len(launch.arguments) == 2]
    assert all(isinstance(launch.arguments[1], IntegerArgument) for launch in sized)


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
