"""Gluon: the copy engine fetches boxes of pixels, and zeros for what lies outside an image.

A tile is two boxes of 64 pixels, a group of four warps for each; one more warp loads for both. One
program per multiprocessor walks over the tiles, so that the next one is under way while a result is
written. What the copy engine cannot read, and steps of more than one, take a plain kernel.
"""

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

PIXELS = gl.constexpr(64)
"""Of one group of warps."""
DEPTH = gl.constexpr(64)
"""Channels that are multiplied at a time: 128 bytes, as wide as the copy engine swizzles."""
BOXES = [(1, 8, 8), (1, 4, 16), (1, 16, 4), (4, 4, 4), (16, 2, 2), (64, 1, 1)]
"""Images, rows and columns of 64 pixels; the best of them covers the result with the fewest."""


@gluon.jit
def corner(box, sizes, IMAGES: gl.constexpr, TALL: gl.constexpr, WIDE: gl.constexpr):
    """First image, row and column of a box."""
    down, across = sizes[2], sizes[3]
    return box // (down * across) * IMAGES, box // across % down * TALL, box % across * WIDE


@gluon.jit
def load(
    maps, memory, ready, free, sizes, BN: gl.constexpr, STAGES: gl.constexpr, BLOCKS: gl.constexpr,
    PLACES: gl.constexpr, S: gl.constexpr, IMAGES: gl.constexpr, TALL: gl.constexpr,
    WIDE: gl.constexpr,
):  # fmt: skip
    """The warp that loads: pixels and weights of each place of the window and block of channels."""
    x, w = maps[0], maps[1]
    x_tiles, w_tiles = memory[0], memory[1]
    items, columns, padding = sizes[0], sizes[1], sizes[4]
    count = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        for turn in range(PLACES * BLOCKS):
            stage = count % STAGES
            place = turn // BLOCKS
            mbarrier.wait(free.index(stage), count // STAGES & 1 ^ 1)
            mbarrier.expect(ready.index(stage), 2 * x.block_type.nbytes + w.block_type.nbytes)
            for part in gl.static_range(2):
                image, top, left = corner(item // columns * 2 + part, sizes, IMAGES, TALL, WIDE)
                tma.async_copy_global_to_shared(
                    x,
                    [image, top + place // S - padding, left + place % S - padding,
                     turn % BLOCKS * DEPTH],
                    ready.index(stage),
                    x_tiles.index(stage * 2 + part),
                )  # fmt: skip
            tma.async_copy_global_to_shared(
                w, [item % columns * BN, turn * DEPTH], ready.index(stage), w_tiles.index(stage)
            )
            count += 1


@gluon.jit
def multiply(
    PART: gl.constexpr, maps, memory, ready, free, written, sizes, BN: gl.constexpr,
    STAGES: gl.constexpr, BLOCKS: gl.constexpr, PLACES: gl.constexpr, IMAGES: gl.constexpr,
    TALL: gl.constexpr, WIDE: gl.constexpr,
):  # fmt: skip
    """A group of four warps: the products of one box with all places of the window."""
    y = maps[2]
    x_tiles, w_tiles, y_tiles = memory
    items, columns = sizes[0], sizes[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    count = 0
    for item in range(gl.program_id(0), items, gl.num_programs(0)):
        total = gl.zeros([PIXELS, BN], gl.float32, layout)
        for turn in range(PLACES * BLOCKS):
            stage = count % STAGES
            mbarrier.wait(ready.index(stage), count // STAGES & 1)
            pixels = x_tiles.index(stage * 2 + PART).reshape([PIXELS, DEPTH])
            weights = w_tiles.index(stage).permute([1, 0])
            total = warpgroup_mma(pixels, weights, total, is_async=True)
            total = warpgroup_mma_wait(1, [total])
            if turn > 0:  # what came before has been read
                mbarrier.arrive(free.index((count + STAGES - 1) % STAGES), count=1)
            count += 1
        total = warpgroup_mma_wait(0, [total])
        mbarrier.arrive(free.index((count + STAGES - 1) % STAGES), count=1)
        mbarrier.wait(written.index(PART), item // gl.num_programs(0) & 1 ^ 1)
        y_tiles.index(PART).reshape([PIXELS, BN]).store(total.to(y.dtype))
        fence_async_shared()
        image, top, left = corner(item // columns * 2 + PART, sizes, IMAGES, TALL, WIDE)
        tma.async_copy_shared_to_global(
            y, [image, top, left, item % columns * BN], y_tiles.index(PART)
        )
        tma.store_wait(0)
        mbarrier.arrive(written.index(PART), count=1)


@gluon.jit
def barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    made = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for place in gl.static_range(COUNT):
        mbarrier.init(made.index(place), count=ARRIVALS)
    return made


@gluon.jit(do_not_specialize=["items", "columns", "down", "across", "padding"])
def conv2d(
    x, w, y, items, columns, down, across, padding, BN: gl.constexpr, STAGES: gl.constexpr,
    BLOCKS: gl.constexpr, PLACES: gl.constexpr, S: gl.constexpr, IMAGES: gl.constexpr,
    TALL: gl.constexpr, WIDE: gl.constexpr,
):  # fmt: skip
    x_tiles = gl.allocate_shared_memory(x.dtype, [2 * STAGES, IMAGES, TALL, WIDE, DEPTH], x.layout)
    w_tiles = gl.allocate_shared_memory(w.dtype, [STAGES, BN, DEPTH], w.layout)
    y_tiles = gl.allocate_shared_memory(y.dtype, [2, IMAGES, TALL, WIDE, BN], y.layout)
    ready, free, written = barriers(STAGES, 1), barriers(STAGES, 2), barriers(2, 1)
    maps, memory = (x, w, y), (x_tiles, w_tiles, y_tiles)
    sizes = (items, columns, down, across, padding)
    gl.warp_specialize(
        [
            (multiply, (0, maps, memory, ready, free, written, sizes, BN, STAGES, BLOCKS, PLACES,
                        IMAGES, TALL, WIDE)),
            (multiply, (1, maps, memory, ready, free, written, sizes, BN, STAGES, BLOCKS, PLACES,
                        IMAGES, TALL, WIDE)),
            (load, (maps, memory, ready, free, sizes, BN, STAGES, BLOCKS, PLACES, S, IMAGES, TALL,
                    WIDE)),
        ],
        [4, 1],
        [240, 24],
    )  # fmt: skip


@triton.jit
def conv2d_by_pointers(
    x, w, y, H, W, P, Q, K, rows_total, stride_n, stride_h, stride_w, step, padding,
    C: tl.constexpr, S: tl.constexpr, PLACES: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    top = rows // Q % P * step - padding
    left = rows % Q * step - padding
    pixel = x + (rows // (P * Q)).to(tl.int64) * stride_n
    total = tl.zeros((BM, BN), tl.float32)
    for place in range(PLACES):
        i, j = top + place // S, left + place % S
        there = (i >= 0) & (i < H) & (j >= 0) & (j < W) & (rows < rows_total)
        for start in range(0, C, BK):
            channels = start + tl.arange(0, BK)
            where = (pixel + i * stride_h + j * stride_w)[:, None] + channels[None, :]
            a = tl.load(where, mask=there[:, None] & (channels[None, :] < C), other=0.0)
            known = (channels[:, None] < C) & (columns[None, :] < K)
            where = w + columns[None, :] * (PLACES * C) + place * C + channels[:, None]
            total = tl.dot(a, tl.load(where, mask=known, other=0.0), total)
    inside = (rows[:, None] < rows_total) & (columns[None, :] < K)
    place = y + rows[:, None].to(tl.int64) * K + columns[None, :]
    tl.store(place, total.to(y.dtype.element_ty), mask=inside)


def copyable(x: torch.Tensor) -> bool:
    """Whether the copy engine can read it: adjacent elements, steps and address by 16 bytes."""
    steps = [step * x.element_size() for step in x.stride()[:-1]]
    return x.stride(-1) == 1 and not any(step % 16 for step in [*steps, x.data_ptr()])


def described(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    element = gl.bfloat16 if x.dtype == torch.bfloat16 else gl.float16
    return TensorDescriptor.from_tensor(
        x, block, gl.NVMMASharedLayout.get_default_for(block, element)
    )


def solve_by_boxes(x: torch.Tensor, w: torch.Tensor, y: torch.Tensor, padding: int) -> None:
    (N, P, Q, K), (_, R, S, C) = y.shape, w.shape
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count

    def boxes(box):
        return triton.cdiv(N, box[0]) * triton.cdiv(P, box[1]) * triton.cdiv(Q, box[2])

    box = min(BOXES, key=boxes)
    tiles = triton.cdiv(boxes(box), 2)
    # 256 channels read each pixel once, if that leaves a tile for each multiprocessor.
    wide = 64 if K <= 64 else 128
    if K > 128 and tiles * triton.cdiv(K, 256) >= programs:
        wide = 256
    columns = triton.cdiv(K, wide)
    conv2d[(min(programs, tiles * columns),)](
        described(x, [*box, 64]), described(w.view(K, R * S * C), [wide, 64]),
        described(y, [*box, wide]), tiles * columns, columns, triton.cdiv(P, box[1]),
        triton.cdiv(Q, box[2]), padding, BN=wide, STAGES=3 if wide == 256 else 5, BLOCKS=C // 64,
        PLACES=R * S, S=S, IMAGES=box[0], TALL=box[1], WIDE=box[2], num_warps=4,
    )  # fmt: skip


def solve(x: torch.Tensor, w: torch.Tensor, step: int, padding: int) -> torch.Tensor:
    N, H, W, C = x.shape
    K, R, S, _ = w.shape
    P, Q = (H + 2 * padding - R) // step + 1, (W + 2 * padding - S) // step + 1
    y = torch.empty((N, P, Q, K), device=x.device, dtype=x.dtype)
    if step == 1 and C % 64 == 0 and K % 8 == 0 and copyable(x) and copyable(w):
        solve_by_boxes(x, w, y, padding)
        return y
    M = N * P * Q
    conv2d_by_pointers[(triton.cdiv(M, 64), triton.cdiv(K, 32))](
        x, w, y, H, W, P, Q, K, M, *x.stride()[:3], step, padding, C=C, S=S, PLACES=R * S,
        BM=64, BN=32, BK=32,
    )  # fmt: skip
    return y
