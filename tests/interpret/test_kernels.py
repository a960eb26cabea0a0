"""Host code gets from a launch, a warm-up and an autotuner what it would get on a GPU."""

import torch

from kernels.contract.wire import KernelFacts
from tests.interpret.interpreter import Interpreter, vectors

HEAD = """
import torch, triton
import triton.language as tl
from triton.runtime import driver
"""
SCALE = """
@triton.jit
def scale(a, y, N, BLOCK: tl.constexpr, FACTOR: tl.constexpr):
    for start in tl.range(tl.program_id(0) * BLOCK, N, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(a + at, mask=at < N) * FACTOR, mask=at < N)
"""
VALUES = torch.arange(100.0)


def test_occupancy_is_computed_from_the_builds_facts(interpreter: Interpreter) -> None:
    host = """
def solve(a):
    y = torch.empty_like(a)
    properties = driver.active.utils.get_device_properties(a.device.index)
    compiled = scale.warmup(a, y, a.numel(), BLOCK=16, FACTOR=2, num_warps=8, grid=(1,))
    compiled._init_handles()
    assert (compiled.n_regs, compiled.n_spills, compiled.metadata.shared) == (40, 1, 512)
    assert properties["multiprocessor_count"] == 132 and compiled.metadata.num_warps == 8
    compiled[(3, 1, 1)](a, y, a.numel(), 16, 2)
    return y
"""
    facts = [
        KernelFacts(function="scale", registers=30, spills=0, shared=0, warps=4),
        KernelFacts(function="scale", registers=40, spills=1, shared=512, warps=8),
    ]
    answer, (result,) = interpreter.run(
        HEAD + SCALE + host, vectors(100), [VALUES], kernels=tuple(facts)
    )
    assert answer.failure is None
    assert torch.equal(result, VALUES * 2)


def test_a_launch_returns_its_kernel_and_takes_any_grid(interpreter: Interpreter) -> None:
    host = """
def grid(meta):
    assert type(meta["N"]) is int and meta["BLOCK"] == 16
    return [triton.cdiv(meta["N"], meta["BLOCK"])]

def solve(a):
    y = torch.empty_like(a)
    compiled = scale[grid](a, y, a.numel(), BLOCK=16, FACTOR=3)
    assert compiled.n_regs > 0
    return y
"""
    answer, (result,) = interpreter.run(HEAD + SCALE + host, vectors(100), [VALUES])
    assert answer.failure is None
    assert torch.equal(result, VALUES * 3)


TUNED = """
def zero(arguments):
    arguments["y"].zero_()

def odd(configs, arguments, **_):
    return [c for c in configs if c.kwargs["FACTOR"] % 2]

@triton.autotune(
    [triton.Config({"FACTOR": f}, pre_hook=zero) for f in (2, 3, 5)],
    key=["N"], prune_configs_by={"early_config_prune": odd},
)
@triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["N"])})
@triton.jit
def scale(a, y, N, BLOCK: tl.constexpr, FACTOR: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(a + at, mask=at < 50) * FACTOR, mask=at < 50)

def solve(a):
    y = torch.empty_like(a)
    scale[(1,)](a, y, a.numel())
    assert scale.best_config.kwargs["FACTOR"] % 2
    return y
"""


def test_an_autotuner_takes_the_first_pruned_configuration(interpreter: Interpreter) -> None:
    answer, (result,) = interpreter.run(HEAD + TUNED, vectors(100), [VALUES])
    assert answer.failure is None
    assert torch.equal(result[:50], VALUES[:50] * 3)
    assert result[50:].eq(0).all()
    assert "Of scale one autotune configuration was run per case." in answer.caveats


def test_an_autotuner_takes_one_that_survived_the_build(interpreter: Interpreter) -> None:
    survivors = ("FACTOR: 5, num_warps: 4, num_ctas: 1, num_stages: 3, maxnreg: None",)
    answer, (result,) = interpreter.run(
        HEAD + TUNED, vectors(100), [VALUES], configs={"scale": survivors}
    )
    assert answer.failure is None
    assert torch.equal(result[:50], VALUES[:50] * 5)


def test_descriptors_of_host_and_device_work(interpreter: Interpreter) -> None:
    source = (
        HEAD
        + """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def copy(source, y, N, BLOCK: tl.constexpr):
    target = tl.make_tensor_descriptor(y, [N], [1], [BLOCK])
    at = tl.program_id(0) * BLOCK
    target.store([at], source.load([at]))

def scratch(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)

def solve(a):
    triton.set_allocator(scratch)
    y = torch.empty_like(a)
    copy[(4,)](TensorDescriptor.from_tensor(a, [32]), y, a.numel(), BLOCK=32)
    return y
"""
    )
    answer, (result,) = interpreter.run(source, vectors(100), [VALUES])
    assert answer.failure is None
    assert torch.equal(result, VALUES)
