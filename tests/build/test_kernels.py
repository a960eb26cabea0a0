"""Kernels beyond plain Triton: Gluon on Hopper, clusters, dependent launches, scratch."""

import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernels.contract import Bundle, Choice, Kernel, Launch, TensorMapArgument, cubin, limits
from tests.build.builds import COPY, COPYING, built, plan_of, task
from workers.build.kernels import write_whole

SQUARE = task({"x": ("N", "N")}, {"y": ("N", "N")}, {"N": 64, "dtype": "float16"})
GLUON = """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait,
)

def descriptor(tensor):
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    return TensorDescriptor.from_tensor(tensor, [64, 64], layout)
"""


def kernel_of(bundle: Bundle) -> Kernel:
    cubin.check(bundle)
    (kernel,) = bundle.plan.kernels.values()
    return kernel


def maps(bundle: Bundle) -> list[TensorMapArgument]:
    (launch,) = bundle.plan.cases[0].launches()
    return [a for a in launch.arguments if isinstance(a, TensorMapArgument)]


def test_gluon_copies_through_asynchronous_copies() -> None:
    bundle = built(
        COPY
        + GLUON
        + """
@gluon.jit
def copied(x_ptr, y_ptr, count, layout: gl.constexpr, BLOCK: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], layout=shared)
    async_copy.async_copy_global_to_shared(buffer, x_ptr + offsets, mask=offsets < count)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y_ptr + offsets, buffer.load(layout), mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    copied[(1,)](x, y, 100, gl.BlockedLayout([1], [32], [4], [0]), 128)
    return y
""",
        COPYING,
    )
    assert kernel_of(bundle).resources.shared_bytes >= 512


def test_gluon_moves_tiles_with_barriers() -> None:
    bundle = built(
        COPY
        + GLUON
        + """
@gluon.jit
def moved(source, target):
    tile = gl.allocate_shared_memory(source.dtype, [64, 64], source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, source.block_type.nbytes)
    tma.async_copy_global_to_shared(source, [0, 0], barrier, tile)
    mbarrier.wait(barrier, phase=0)
    mbarrier.invalidate(barrier)
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [0, 0], tile)
    tma.store_wait(pendings=0)

def solve(x):
    y = torch.empty_like(x)
    moved[(1,)](descriptor(x), descriptor(y))
    return y
""",
        SQUARE,
    )
    source, target = maps(bundle)
    assert (source.buffer, target.buffer) == (0, 1)
    assert source.box == (64, 64)
    assert source.swizzle == 3
    assert kernel_of(bundle).resources.shared_bytes >= 64 * 64 * 2


def test_gluon_multiplies_with_a_warp_group() -> None:
    bundle = built(
        COPY
        + GLUON
        + """
@gluon.jit
def product(a, b, c):
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    a_tile = gl.allocate_shared_memory(a.dtype, [64, 64], a.layout)
    b_tile = gl.allocate_shared_memory(b.dtype, [64, 64], b.layout)
    mbarrier.expect(barrier, a.block_type.nbytes + b.block_type.nbytes)
    tma.async_copy_global_to_shared(a, [0, 0], barrier, a_tile)
    tma.async_copy_global_to_shared(b, [0, 0], barrier, b_tile)
    mbarrier.wait(barrier, phase=0)
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    sums = gl.zeros([64, 64], gl.float32, layout)
    sums = warpgroup_mma(a_tile, b_tile, sums, is_async=True)
    sums = warpgroup_mma_wait(num_outstanding=0, deps=[sums])
    c_tile = gl.allocate_shared_memory(c.dtype, [64, 64], c.layout)
    c_tile.store(sums.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [0, 0], c_tile)
    tma.store_wait(pendings=0)

def solve(x):
    y = torch.empty_like(x)
    product[(1,)](descriptor(x), descriptor(x), descriptor(y))
    return y
""",
        SQUARE,
    )
    assert len(maps(bundle)) == 3
    assert b"wgmma.mma_async" in text_of(bundle, "ptx")


def test_gluon_specialises_warps() -> None:
    bundle = built(
        COPY
        + GLUON
        + """
@gluon.jit
def producer(source, tile, barrier):
    mbarrier.expect(barrier, source.block_type.nbytes)
    tma.async_copy_global_to_shared(source, [0, 0], barrier, tile)

@gluon.jit
def consumer(target, tile, barrier):
    mbarrier.wait(barrier, phase=0)
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [0, 0], tile)
    tma.store_wait(pendings=0)

@gluon.jit
def moved(source, target):
    tile = gl.allocate_shared_memory(source.dtype, [64, 64], source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    gl.warp_specialize(
        [(consumer, (target, tile, barrier)), (producer, (source, tile, barrier))], [1], [24])

def solve(x):
    y = torch.empty_like(x)
    moved[(1,)](descriptor(x), descriptor(y), num_warps=4)
    return y
""",
        SQUARE,
    )
    assert kernel_of(bundle).warps > 4


def test_gluon_kernels_are_tuned() -> None:
    bundle = built(
        COPY
        + GLUON
        + """
@triton.autotune([triton.Config({"BLOCK": b}) for b in (128, 256)], key=["count"])
@gluon.jit
def copied(x_ptr, y_ptr, count, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    copied[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    return y
""",
        COPYING,
    )
    (choice,) = bundle.plan.cases[0].steps
    assert isinstance(choice, Choice)
    assert len(choice.alternatives) == 2


def test_clusters_and_dependent_launches() -> None:
    bundle = built(
        COPY
        + """
@triton.jit
def dependent(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    value = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(y_ptr + offsets, value, mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    copy[(4,)](x, y, 100, BLOCK=64, num_ctas=4)
    for _ in range(2):
        dependent[(2,)](x, y, 100, 64, launch_pdl=True)
    return y
""",
        COPYING,
    )
    kernels = {kernel.function: kernel for kernel in bundle.plan.kernels.values()}
    assert (kernels["copy"].ctas, kernels["copy"].dependent) == (4, False)
    assert (kernels["dependent"].ctas, kernels["dependent"].dependent) == (1, True)
    assert [step.grid[0] for step in bundle.plan.cases[0].steps if isinstance(step, Launch)] == [
        4,
        2,
        2,
    ]


def test_device_descriptors_need_scratch_and_no_allocator() -> None:
    bundle = built(
        COPY
        + """
@triton.jit
def moved(x_ptr, y_ptr, N, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [N, N], [N, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y_ptr, [N, N], [N, 1], [BLOCK, BLOCK])
    target.store([0, 0], source.load([0, 0]))

def solve(x):
    triton.set_allocator(lambda size, alignment, stream: 1 / 0)
    y = torch.empty_like(x)
    moved[(1,)](x, y, 64, 32)
    return y
""",
        SQUARE,
    )
    kernel = kernel_of(bundle)
    assert kernel.global_scratch_bytes >= 2 * 128
    assert kernel.global_scratch_align >= 64


def text_of(bundle: Bundle, name: str) -> bytes:
    (kernel,) = bundle.plan.kernels.values()
    return zlib.decompress(bundle.blobs[{str(k): v for k, v in kernel.texts.items()}[name]])


def test_a_tuner_with_too_many_configurations_keeps_the_first() -> None:
    case = plan_of(
        """
@triton.autotune([triton.Config({"BLOCK": 64}) for _ in range(1500)], key=["count"])
@triton.jit
def tuned(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    tuned[(2,)](x, y, 100)
    return y
"""
    )
    (choice,) = case.steps
    assert isinstance(choice, Choice)
    assert len(choice.alternatives) == limits.ALTERNATIVES
    assert len(choice.dropped) == limits.DROPPED
    assert "64 of 1500 configurations are kept" in "\n".join(case.notes)


def test_threads_may_write_the_same_file_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, rename = threading.Barrier(2), Path.rename

    def rename_when_both_are_written(partial: Path, target: Path) -> Path:
        written.wait()
        return rename(partial, target)

    monkeypatch.setattr(Path, "rename", rename_when_both_are_written)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda content: write_whole(tmp_path / "kernel", content), [b"a", b"a"]))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"a"]
