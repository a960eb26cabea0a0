"""What public host code does with torch and Triton, feature by feature: it builds as it is."""

import pytest

from kernels.contract import Choice, Permissions, TensorOp
from tests.build.builds import COPYING, names, plan_of

FINISHING = COPYING.model_copy(update={"permissions": Permissions(finishing=True)})


def test_default_devices_and_device_contexts() -> None:
    case = plan_of("""
from triton.runtime import driver

def solve(x):
    with torch.device("cuda"):
        y = torch.empty(100)
    with torch.cuda.device(x.device), torch.cuda.device_of(x), torch.cuda.device(0):
        z = torch.empty(100, device=driver.active.get_active_torch_device())
    torch.set_default_device("cuda")
    w = torch.empty(100)
    assert y.is_cuda and z.device == w.device == x.device == torch.get_default_device()
    assert x.get_device() == 0 and str(x.device) == "cuda:0"
    assert x.type() == "torch.cuda.FloatTensor"
    assert not x.is_meta and not x.is_cpu and torch.empty(1, device="cpu").is_cpu
    return run(run(run(x, y), z), w)
""")
    assert names(case) == ["launch"] * 3


def test_facts_of_the_device() -> None:
    plan_of("""
from triton.runtime import driver

def solve(x):
    facts = torch.cuda.get_device_properties(x.device)
    for name in ("name major total_memory multi_processor_count L2_cache_size warp_size"
                 " shared_memory_per_block_optin shared_memory_per_multiprocessor"
                 " regs_per_multiprocessor max_threads_per_multi_processor").split():
        assert getattr(facts, name)
    facts = driver.active.utils.get_device_properties(torch.cuda.current_device())
    for name in "max_shared_mem max_num_regs multiprocessor_count warpSize mem_bus_width".split():
        assert facts[name] > 0
    assert torch.cuda.get_device_name().startswith("NVIDIA") and torch.version.cuda
    assert torch.accelerator.current_accelerator().type == "cuda" and torch.cuda.device_count() == 1
    torch.cuda.synchronize(), torch.cuda.empty_cache(), torch.cuda.max_memory_allocated()
    return run(x, torch.empty_like(x))
""")


AUTOGRAD = """
class Copied(torch.autograd.Function):
    @staticmethod
    @FORWARD
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return run(x, torch.empty_like(x))

    @staticmethod
    @BACKWARD
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        assert dy.is_cuda and x.device.type == "cuda" and dy.data_ptr()
        return run(dy.contiguous(), torch.empty_like(dy))
"""


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        ("torch.amp.custom_fwd(device_type='cuda')", "torch.amp.custom_bwd(device_type='cuda')"),
        ("torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd"),
    ],
)
def test_backward_runs_under_the_facade(forward: str, backward: str) -> None:
    functions = AUTOGRAD.replace("FORWARD", forward).replace("BACKWARD", backward)
    case = plan_of(
        functions
        + """
def solve(x):
    x = x.detach().requires_grad_()
    Copied.apply(x).backward(torch.ones_like(x))
    (gradient,) = torch.autograd.grad(Copied.apply(x), x, torch.ones_like(x))
    return run(gradient, x.grad)
"""
    )
    assert names(case) == ["launch", "aten.ones_like.default", "launch"] * 2 + ["launch"]


def test_a_gradient_through_torchs_own_operations() -> None:
    functions = AUTOGRAD.replace("@FORWARD", "").replace("@BACKWARD", "")
    case = plan_of(
        functions
        + """
from torch.utils.checkpoint import checkpoint

def solve(x):
    x = x.detach().requires_grad_()
    checkpoint(lambda t: Copied.apply(t) * 2, x, use_reentrant=False).sum().backward()
    return x.grad
""",
        FINISHING,
    )
    # The forward pass, then what C++ issues on the way back: it runs what was not kept once more.
    assert names(case) == [
        "launch",
        "aten.mul.Tensor",
        "aten.sum.default",
        "aten.ones_like.default",
        "aten.mul.Tensor",
        "launch",
        "launch",
    ]


def test_registered_operations_with_gradients_and_side_effects() -> None:
    case = plan_of("""
@torch.library.triton_op("features::copied", mutates_args={})
def copied(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    torch.library.wrap_triton(copy)[(2,)](x, y, 100, BLOCK=64)
    return y

copied.register_autograd(lambda ctx, dy: run(dy.contiguous(), torch.empty_like(dy)))

@torch.library.custom_op("features::filled", mutates_args={"y"})
def filled(x: torch.Tensor, y: torch.Tensor) -> None:
    run(x, y)

@filled.register_fake
def _(x, y):
    return None

@torch.compile(mode="max-autotune", fullgraph=True)
def solve(x):
    x = x.detach().requires_grad_()
    copied(x).backward(torch.ones_like(x))
    y = torch.empty_like(x.grad)
    filled(x.grad, y)
    return y
""")
    assert names(case) == ["launch", "aten.ones_like.default", "launch", "launch"]


def test_modules_with_parameters() -> None:
    case = plan_of("""
class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(100))
        self.linear = torch.nn.Linear(4, 100)
        self.register_buffer("table", torch.arange(4))

    def forward(self, x):
        return run(self.linear.bias, run(x, torch.empty_like(self.weight)))

layer = Layer().cuda().half().eval()

def solve(x):
    assert all(p.is_cuda and p.dtype == torch.float16 for p in layer.parameters())
    layer.to(device="cuda", dtype=torch.float32)
    with torch.no_grad(), torch.inference_mode():
        return layer(x)
""")
    assert names(case)[-2:] == ["launch", "launch"]
    assert [b.nbytes for b in case.buffers if b.role == "constant"].count(400) == 2


def test_pinned_memory_and_copies_of_tensors() -> None:
    case = plan_of("""
import copy as copying
import numpy as np

def solve(x):
    host = torch.empty(100, pin_memory=True)
    host.copy_(torch.from_numpy(np.arange(100, dtype="float32")))
    y = torch.empty(100, device="cuda")
    y.copy_(host, non_blocking=True)
    y.record_stream(torch.cuda.current_stream())
    return run(copying.deepcopy(y), torch.empty_like(y))
""")
    assert names(case) == ["aten.copy_.default", "aten.clone.default", "launch"]


def test_compiled_kernels_are_launched_and_read() -> None:
    case = plan_of("""
def solve(x):
    y = torch.empty_like(x)
    kernel = copy.warmup(x, y, 100, BLOCK=64, grid=(2,))
    kernel._init_handles()
    assert kernel.n_regs > 0 and kernel.n_spills == 0 and kernel.n_max_threads >= 128
    assert kernel.metadata.num_warps == 4 and kernel.metadata.shared == 0
    assert ".visible .entry copy" in kernel.asm["ptx"] and len(kernel.asm["cubin"]) > 1000
    kernel[(2, 1, 1)](x, y, 100)
    assert copy[(2,)](y, y, 100, 64, num_warps=4).n_regs == kernel.n_regs
    return y
""")
    assert names(case) == ["launch", "launch"]


def test_streams_events_seeds_and_profiler_ranges() -> None:
    case = plan_of("""
def solve(x):
    torch.manual_seed(0), torch.cuda.manual_seed_all(1)
    seed = torch.randint(100, (1,), generator=torch.Generator("cuda").manual_seed(3)).item()
    assert len(torch.cuda.default_generators) == 1
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    stream.wait_stream(torch.cuda.current_stream())
    profiled = torch.profiler.record_function("f")
    with torch.cuda.stream(stream), torch.cuda.nvtx.range("copy"), profiled:
        y = run(x, torch.empty_like(x))
        event.record(stream)
    torch.cuda.current_stream().wait_event(event)
    event.synchronize(), torch.cuda.synchronize()
    with torch.autocast("cuda", enabled=False), torch.amp.autocast("cuda", enabled=False):
        assert not torch.is_autocast_enabled("cuda")
    return y
""")
    assert names(case) == ["launch"]


def test_launch_hooks_see_every_launch() -> None:
    case = plan_of("""
seen = []
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get()["name"]))
triton.knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append("end"))

def solve(x):
    y = run(x, torch.empty_like(x))
    assert seen == ["copy", "end"], seen
    return y
""")
    assert names(case) == ["launch"]


def test_everything_an_autotuner_may_be_told() -> None:
    case = plan_of("""
def early(configs, named, **kwargs):
    assert named["x_ptr"].is_cuda and named["count"] == 100
    return [config for config in configs if config.kwargs["BLOCK"] <= 256]

@triton.autotune(
    [triton.Config({"BLOCK": b}, num_warps=w, num_stages=2, maxnreg=64) for b in (32, 64, 256, 512)
     for w in (1, 2)],
    key=["count"],
    prune_configs_by={"early_config_prune": early, "perf_model": lambda BLOCK, **_: BLOCK,
                      "top_k": 5},
    pre_hook=lambda named, reset_only=False: named["y_ptr"].zero_(),
    post_hook=lambda named, exception: None,
    warmup=5, rep=10, use_cuda_graph=True,
)
@triton.heuristics({"EVEN": lambda named: named["count"] % named["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, y_ptr, count, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(BLOCK < 256)
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < (100000 if EVEN else count)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)

def solve(x):
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    return y
""")
    zeroed, choice = case.steps
    assert isinstance(zeroed, TensorOp)
    assert zeroed.op == "aten.zero_.default"
    assert isinstance(choice, Choice)
    blocks = [a.config.split("BLOCK: ")[1].split(",")[0] for a in choice.alternatives]
    assert blocks == ["32", "32", "64", "64"]
    assert len(choice.dropped) == 1
    assert "BLOCK < 256" in choice.dropped[0].reason or "static_assert" in choice.dropped[0].reason


def test_what_kernels_may_be_given_and_do() -> None:
    case = plan_of("""
import math
from triton.language.extra import libdevice

@triton.jit
def busy(x_ptr, y_ptr, seed, p, T: tl.constexpr, NAME: tl.constexpr, NONE: tl.constexpr = None):
    offsets = tl.arange(0, 64)
    tl.static_print("compiled for", NAME)
    value = libdevice.tanh(tl.load(x_ptr + offsets)).to(T)
    if NAME == "relu" and NONE is None:
        value = tl.maximum(value, 0.0)
    value = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=f,f", [value.to(tl.float32)],
                                      dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(offsets >= 0)
    tl.store(y_ptr + offsets, tl.where(tl.rand(seed, offsets) > p, value, 0.0))

def solve(x):
    y = torch.empty_like(x)
    busy[math.ceil(0.5), 1](x, y, 123, 0.5, tl.float16, "relu")
    return y
""")
    assert names(case) == ["launch"]


def test_views_and_fills_of_every_kind() -> None:
    case = plan_of("""
def solve(x):
    a, b = torch.empty(200, device="cuda").chunk(2)
    run(x, a)
    a.unflatten(0, (10, 10)).permute(1, 0).movedim(0, 1).swapaxes(0, 1).squeeze()
    torch.broadcast_to(a, (3, 100)), a.unfold(0, 10, 5), torch.atleast_2d(a), a.narrow(0, 1, 3)
    a.view(torch.int32), torch.view_as_complex(a.view(50, 2)), a.as_strided((5, 5), (1, 5))
    c = torch.empty(0, device="cuda")
    c.set_(b), b.view(-1).resize_(50), torch.ones_like(b).resize_as_(b)
    b[3:7] = 0
    b[1] = a[2]
    b[:] = a
    b[0] = 1.5
    return run(c, torch.hstack([a[:50], b[:50]]))
""")
    assert names(case) == [
        "launch", "aten.ones_like.default", "aten.full.default", "aten.copy_.default",
        "aten.copy_.default", "aten.copy_.default", "aten.full.default", "aten.copy_.default",
        "aten.cat.default", "launch",
    ]  # fmt: skip


def test_tables_that_the_host_could_make_are_constants() -> None:
    case = plan_of("""
def solve(x):
    table = torch.linspace(0, 1, 100, device="cuda")
    run(torch.eye(10, device="cuda"), torch.empty_like(x))
    return run(table, torch.empty_like(x))
""")
    assert names(case) == ["launch", "launch"]
    assert [b.nbytes for b in case.buffers if b.role == "constant"] == [400, 400]


def test_hundreds_of_launches() -> None:
    case = plan_of("""
def solve(x):
    y = torch.empty_like(x)
    for turn in range(401):
        run(*((y, x) if turn % 2 else (x, y)))
    return y
""")
    assert names(case) == ["launch"] * 401
