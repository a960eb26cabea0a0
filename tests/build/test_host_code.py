"""What host code may do: each test is one habit of real code, and what the plan makes of it."""

from typing import Any

import pytest

from kernels.contract import (
    ElementType,
    Launch,
    Layout,
    Permissions,
    PointerArgument,
    Real,
    TensorOp,
)
from tests.build.builds import AFTER_COPY, COPY, COPYING, built, failed, names, plan_of, task


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


def test_fills_that_are_shaped_like_an_unknown_tensor_are_known() -> None:
    case = plan_of("""
class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        run(x, torch.empty_like(x))
        return x.new_empty(())

    @staticmethod
    def backward(ctx, gradient):
        assert torch.equal(gradient, torch.tensor(1.0, device=gradient.device))
        return torch.empty(100, device="cuda")

def solve(x):
    assert x.new_full((2,), 3).tolist() == [3, 3] and torch.full_like(x, 2)[0] == 2
    assert x.new_zeros(1).item() == 0 and x.new_ones(2, dtype=torch.int32).tolist() == [1, 1]
    assert not torch.zeros_like(x.view(10, 10).t()).tolist()[9][9]
    Loss.apply(x.detach().requires_grad_()).backward()
    return run(x, torch.empty_like(x))
""")
    assert names(case).count("launch") == 2


def test_values_made_by_the_host_may_be_changed_in_place_as_well() -> None:
    case = plan_of("""
def solve(x):
    nibbles = torch.arange(16, device="cuda", dtype=torch.int32).view(2, 8)
    packed = torch.zeros(2, dtype=torch.int32, device="cuda")
    for i in range(8):
        packed |= (nibbles[:, i] & 0xF) << (4 * i)
    assert packed.tolist() == [0x76543210, 0xFEDCBA98 - (1 << 32)]
    y = torch.empty_like(x)
    copy[(1,)](x, y, 100, BLOCK=128)
    copy[(1,)](packed, y, 2, BLOCK=128)
    return y
""")
    *_, before, one, two = names(case)
    assert (before, one, two) == ("aten.copy_.default", "launch", "launch")


@pytest.mark.parametrize("captured", ["t.add_(1)", "run(x, t)"])
def test_what_a_graph_writes_is_not_known_after_its_replay(captured: str) -> None:
    failure = failed(
        f"""
def solve(x):
    t, graph = torch.zeros(100, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        {captured}
    t.zero_()
    assert t[0].item() == 0
    graph.replay()
    return run(x, torch.empty_like(x)) if t[0].item() else x
""",
        COPYING.model_copy(update={"permissions": Permissions(finishing=True)}),
    )
    assert failure.reason.startswith("tensor.item() reads the values")
    assert failure.diagnostics[0].line == AFTER_COPY + 8


@pytest.mark.parametrize(
    "launch",
    [
        "raw[(1,)](x, t.data_ptr(), 100)",
        "table = torch.tensor([t.data_ptr()], device=0); copy_to[(1,)](x, table, 100)",
        "table = torch.zeros(1, dtype=torch.int64, device=0);"
        " table.copy_(torch.tensor([t.data_ptr()])); copy_to[(1,)](x, table, 100)",
    ],
)
def test_what_kernels_reach_by_address_is_not_known_either(launch: str) -> None:
    kernels = """
@triton.jit
def raw(x_ptr, address, count):
    offsets = tl.arange(0, 128)
    y_ptr = address.to(tl.pointer_type(tl.float32))
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

@triton.jit
def copy_to(x_ptr, table_ptr, count):
    raw(x_ptr, tl.load(table_ptr), count)

def solve(x):
    t = torch.zeros(100, device="cuda")
"""
    case = plan_of(f"{kernels}    {launch}\n    return t\n")
    assert case.outputs[0].buffer in {i for i, b in enumerate(case.buffers) if b.role == "output"}
    failure = failed(f"{kernels}    {launch}\n    return t if t[0].item() else x\n")
    assert failure.reason.startswith("tensor.item() reads the values")


def test_an_address_is_no_number_of_an_operation() -> None:
    failure = failed("""
def solve(x):
    table = torch.full((1,), x.data_ptr(), device="cuda")
    return run(x, torch.empty_like(x))
""")
    assert failure.reason == "an address is given to a torch operation as a number"
    assert failure.diagnostics[0].line == AFTER_COPY + 2


def test_a_constant_read_after_a_launch_must_stay_unchanged() -> None:
    case = plan_of("""
def solve(x):
    sizes = torch.tensor([1.0, 2.0], device="cuda")
    run(x, sizes)
    assert sizes[1].item() == 2
    return run(x, torch.empty_like(x))
""")
    assert [case.buffers[index].role for index in case.unchanged] == ["constant"]


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
