"""Gluon: groups of warps take turns at the tensor cores, one more warp loads for all of them.

While one group multiplies, the others take their softmax: two groups with heads of 128, three with
heads of 64, whose exponentials take as long as their products. Each group has 64 rows of a tile;
one program per multiprocessor walks over the tiles. Causal tiles are taken in pairs of a long and
a short one, so that all programs have as much to do. What is short, or what the copy engine cannot
read, takes a plain kernel.
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

ROWS = gl.constexpr(64)
"""Queries of one group of warps."""


@gluon.jit
def tile_of(turn, sizes, GROUPS: gl.constexpr, BN: gl.constexpr, CAUSAL: gl.constexpr):
    """Batch and head, first row and number of blocks of keys of a program's next tile."""
    tiles, Sq, Skv = sizes[0], sizes[3], sizes[4]
    if CAUSAL:
        pairs = (tiles + 1) // 2
        item = gl.program_id(0) + turn // 2 * gl.num_programs(0)
        head = item // pairs
        tile = gl.where(turn % 2 == 0, tiles - 1 - item % pairs, item % pairs)
        end = gl.minimum(Skv, gl.maximum((tile + 1) * (GROUPS * ROWS) + Skv - Sq, 0))
    else:
        item = gl.program_id(0) + turn * gl.num_programs(0)
        head = item // tiles
        tile = item % tiles
        end = Skv
    return head, tile * (GROUPS * ROWS), gl.cdiv(end, BN)


@gluon.jit
def turns_of(sizes, CAUSAL: gl.constexpr):
    """How many tiles this program has; the pairs of an odd number of tiles name one twice."""
    turns = gl.cdiv(sizes[1] - gl.program_id(0), gl.num_programs(0))
    return turns * 2 if CAUSAL else turns


@gluon.jit
def load(
    plan, sharing, GROUPS: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr,
    CAUSAL: gl.constexpr,
):  # fmt: skip
    """The warp that loads: queries of each tile, then its keys and values from the last on."""
    maps, memory, ready, free, sizes = plan[0], plan[1], plan[2], plan[3], plan[4]
    q, k, v = maps[0], maps[1], maps[2]
    q_tiles, k_tiles, v_tiles = memory
    q_ready, k_ready, v_ready = ready[0], ready[1], ready[2]
    q_free, k_free, v_free = free
    H = sizes[2]
    count = 0
    for turn in range(turns_of(sizes, CAUSAL)):
        item, row, blocks = tile_of(turn, sizes, GROUPS, BN, CAUSAL)
        batch, head = item // H, item % H
        for part in gl.static_range(GROUPS):
            mbarrier.wait(q_free.index(part), turn & 1 ^ 1)
            mbarrier.expect(q_ready.index(part), q.block_type.nbytes)
            tma.async_copy_global_to_shared(
                q, [batch, head, row + part * ROWS, 0], q_ready.index(part), q_tiles.index(part)
            )
        for block in range(blocks):
            stage = count % STAGES
            place = [batch, head // sharing, (blocks - 1 - block) * BN, 0]
            mbarrier.wait(k_free.index(stage), count // STAGES & 1 ^ 1)
            mbarrier.expect(k_ready.index(stage), k.block_type.nbytes)
            tma.async_copy_global_to_shared(k, place, k_ready.index(stage), k_tiles.index(stage))
            mbarrier.wait(v_free.index(stage), count // STAGES & 1 ^ 1)
            mbarrier.expect(v_ready.index(stage), v.block_type.nbytes)
            tma.async_copy_global_to_shared(v, place, v_ready.index(stage), v_tiles.index(stage))
            count += 1


@gluon.jit
def weigh(scores, top, scale):
    """The weights of a block of scores, the new largest scores, and how much older sums shrink."""
    highest = gl.maximum(top, gl.max(scores, 1) * scale)
    # A row that has seen no key yet has no maximum to take off.
    shift = gl.where(highest == float("-inf"), 0.0, highest)
    return gl.exp2(scores * scale - shift[:, None]), highest, gl.exp2(top - shift)


@gluon.jit
def mask(scores, row, start, sizes, CAUSAL: gl.constexpr):
    """Scores of keys that their query does not see are minus infinity."""
    Sq, Skv = sizes[3], sizes[4]
    BN: gl.constexpr = scores.shape[1]
    keys = start + gl.arange(0, BN, gl.SliceLayout(0, scores.type.layout))
    visible = (keys < Skv)[None, :]
    if CAUSAL:
        rows = row + gl.arange(0, ROWS, gl.SliceLayout(1, scores.type.layout))
        visible = visible & (keys[None, :] <= rows[:, None] + (Skv - Sq))
    return gl.where(visible, scores, float("-inf"))


@gluon.jit
def attend_part(
    PART: gl.constexpr, plan, GROUPS: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr,
):  # fmt: skip
    """A group of four warps: 64 rows of each tile."""
    maps, memory, ready, free, sizes, scale = plan
    o = maps[3]
    q_tiles, k_tiles, v_tiles = memory
    q_ready, k_ready, v_ready, turns_ready = ready
    q_free, k_free, v_free = free
    H, Sq, Skv = sizes[2], sizes[3], sizes[4]
    D: gl.constexpr = q_tiles.shape[4]
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, o_layout, 2)
    o_rows: gl.constexpr = gl.SliceLayout(1, o_layout)
    queries = q_tiles.index(PART).reshape([ROWS, D])
    nothing = gl.zeros([ROWS, BN], gl.float32, s_layout)
    count = 0
    steps = 0
    for turn in range(turns_of(sizes, CAUSAL)):
        item, row, blocks = tile_of(turn, sizes, GROUPS, BN, CAUSAL)
        row += PART * ROWS
        # Only the last block may be ragged; before it, only causal blocks need a mask.
        plain = gl.maximum(row + Skv - Sq + 1, 0) // BN * BN
        top = gl.full([ROWS], float("-inf"), gl.float32, gl.SliceLayout(1, s_layout))
        total = gl.full([ROWS], 0.0, gl.float32, gl.SliceLayout(1, s_layout))
        result = gl.zeros([ROWS, D], gl.float32, o_layout)
        mbarrier.wait(q_ready.index(PART), turn & 1)
        if blocks > 0:
            stage = count % STAGES
            mbarrier.wait(k_ready.index(stage), count // STAGES & 1)
            keys = k_tiles.index(stage).reshape([BN, D]).permute([1, 0])
            scores = warpgroup_mma(queries, keys, nothing, use_acc=False, is_async=True)
            scores = warpgroup_mma_wait(0, [scores])
            mbarrier.arrive(k_free.index(stage), count=1)
            if CAUSAL or RAGGED:
                scores = mask(scores, row, (blocks - 1) * BN, sizes, CAUSAL)
            weights, top, shrink = weigh(scores, top, scale)
            total = gl.sum(weights, 1)
            packed = gl.convert_layout(weights.to(o.dtype), p_layout)
            for block in range(1, blocks):
                start = (blocks - 1 - block) * BN
                following = (count + 1) % STAGES
                mbarrier.wait(k_ready.index(following), (count + 1) // STAGES & 1)
                mbarrier.wait(turns_ready.index(PART), steps & 1)
                keys = k_tiles.index(following).reshape([BN, D]).permute([1, 0])
                scores = warpgroup_mma(queries, keys, nothing, use_acc=False, is_async=True)
                stage = count % STAGES
                mbarrier.wait(v_ready.index(stage), count // STAGES & 1)
                values = v_tiles.index(stage).reshape([BN, D])
                result = warpgroup_mma(packed, values, result, is_async=True)
                mbarrier.arrive(turns_ready.index((PART + 1) % GROUPS), count=1)
                scores = warpgroup_mma_wait(1, [scores])
                mbarrier.arrive(k_free.index(following), count=1)
                if CAUSAL and start >= plain:
                    scores = mask(scores, row, start, sizes, CAUSAL)
                weights, top, shrink = weigh(scores, top, scale)
                total = total * shrink + gl.sum(weights, 1)
                following_weights = gl.convert_layout(weights.to(o.dtype), p_layout)
                result = warpgroup_mma_wait(0, [result])
                mbarrier.arrive(v_free.index(stage), count=1)
                result *= gl.convert_layout(shrink, o_rows)[:, None]
                packed = following_weights
                count += 1
                steps += 1
            stage = count % STAGES
            mbarrier.wait(v_ready.index(stage), count // STAGES & 1)
            values = v_tiles.index(stage).reshape([BN, D])
            result = warpgroup_mma(packed, values, result, is_async=True)
            result = warpgroup_mma_wait(0, [result])
            mbarrier.arrive(v_free.index(stage), count=1)
            count += 1
        share = 1.0 / gl.where(total == 0.0, 1.0, total)
        result *= gl.convert_layout(share, o_rows)[:, None]
        # The queries' memory is free now, and the result is as large.
        queries.store(result.to(o.dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(o, [item // H, item % H, row, 0], q_tiles.index(PART))
        tma.store_wait(0)
        mbarrier.arrive(q_free.index(PART), count=1)


@gluon.jit
def barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    made = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for place in gl.static_range(COUNT):
        mbarrier.init(made.index(place), count=ARRIVALS)
    return made


@gluon.jit(do_not_specialize=["tiles", "items", "H", "sharing", "Sq", "Skv"])
def attend(
    q, k, v, o, tiles, items, H, sharing, Sq, Skv, scale,
    GROUPS: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr,
):  # fmt: skip
    D: gl.constexpr = q.block_shape[3]
    q_tiles = gl.allocate_shared_memory(q.dtype, [GROUPS, 1, 1, ROWS, D], q.layout)
    k_tiles = gl.allocate_shared_memory(k.dtype, [STAGES, 1, 1, BN, D], k.layout)
    v_tiles = gl.allocate_shared_memory(v.dtype, [STAGES, 1, 1, BN, D], v.layout)
    turns = barriers(GROUPS, 1)
    ready = (barriers(GROUPS, 1), barriers(STAGES, 1), barriers(STAGES, 1), turns)
    free = (barriers(GROUPS, 1), barriers(STAGES, GROUPS), barriers(STAGES, GROUPS))
    mbarrier.arrive(turns.index(0), count=1)
    maps, memory, sizes = (q, k, v, o), (q_tiles, k_tiles, v_tiles), (tiles, items, H, Sq, Skv)
    plan = (maps, memory, ready, free, sizes, scale)
    if GROUPS == 2:
        gl.warp_specialize(
            [
                (attend_part, (0, plan, GROUPS, BN, STAGES, CAUSAL, RAGGED)),
                (attend_part, (1, plan, GROUPS, BN, STAGES, CAUSAL, RAGGED)),
                (load, (plan, sharing, GROUPS, BN, STAGES, CAUSAL)),
            ],
            [4, 1],
            [240, 24],
        )
    else:
        gl.warp_specialize(
            [
                (attend_part, (0, plan, GROUPS, BN, STAGES, CAUSAL, RAGGED)),
                (attend_part, (1, plan, GROUPS, BN, STAGES, CAUSAL, RAGGED)),
                (attend_part, (2, plan, GROUPS, BN, STAGES, CAUSAL, RAGGED)),
                (load, (plan, sharing, GROUPS, BN, STAGES, CAUSAL)),
            ],
            [4, 4, 1],
            [160, 160, 24],
        )


@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def attend_by_pointers(
    q, k, v, o, qb, qh, qs, qd, kb, kh, ks, kd, vb, vh, vs, vd, H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    q += batch.to(tl.int64) * qb + head.to(tl.int64) * qh
    k += batch.to(tl.int64) * kb + (head // GROUP).to(tl.int64) * kh
    v += batch.to(tl.int64) * vb + (head // GROUP).to(tl.int64) * vh
    o += tl.program_id(1).to(tl.int64) * Sq * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    inside = rows[:, None] < Sq
    queries = tl.load(q + rows[:, None] * qs + dims[None, :] * qd, mask=inside, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    end = min(Skv, (tl.program_id(0) + 1) * BM + Skv - Sq) if CAUSAL else Skv
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN)
        exists = keys < Skv
        k_tile = tl.load(
            k + keys[None, :] * ks + dims[:, None] * kd, mask=exists[None, :], other=0.0
        )
        visible = exists[None, :]
        if CAUSAL:
            visible &= keys[None, :] <= rows[:, None] + (Skv - Sq)
        scores = tl.where(visible, tl.dot(queries, k_tile) * scale, float("-inf"))
        highest = tl.maximum(top, tl.max(scores, 1))
        shift = tl.where(highest == float("-inf"), 0.0, highest)
        weights = tl.exp2(scores - shift[:, None])
        shrink = tl.exp2(top - shift)
        total = total * shrink + tl.sum(weights, 1)
        v_tile = tl.load(
            v + keys[:, None] * vs + dims[None, :] * vd, mask=exists[:, None], other=0.0
        )
        result = tl.dot(weights.to(v_tile.dtype), v_tile, result * shrink[:, None])
        top = highest
    result /= tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(o + rows[:, None] * D + dims[None, :], result.to(o.dtype.element_ty), mask=inside)


def copyable(x: torch.Tensor) -> bool:
    """Whether the copy engine can read it: adjacent elements, steps and address by 16 bytes."""
    steps = [step * x.element_size() for step in x.stride()[:-1]]
    return x.stride(-1) == 1 and not any(step % 16 for step in [*steps, x.data_ptr()])


def described(x: torch.Tensor, rows: int) -> TensorDescriptor:
    """How the copy engine reads tiles of some rows of one head."""
    block = [1, 1, rows, x.shape[-1]]
    element = gl.bfloat16 if x.dtype == torch.bfloat16 else gl.float16
    return TensorDescriptor.from_tensor(
        x, block, gl.NVMMASharedLayout.get_default_for(block, element)
    )


def solve(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: int) -> torch.Tensor:
    B, H, Sq, D = q.shape
    Hkv, Skv = k.shape[1:3]
    o = torch.empty((B, H, Sq, D), device=q.device, dtype=q.dtype)
    scale = 1.4426950408889634 / D**0.5  # log2(e): the kernel's exponentials have base 2
    if min(Sq, Skv) < 128 or not all(copyable(x) for x in (q, k, v)):
        attend_by_pointers[(triton.cdiv(Sq, 64), B * H)](
            q, k, v, o, *q.stride(), *k.stride(), *v.stride(), H, H // Hkv, Sq, Skv, scale,
            CAUSAL=bool(causal), D=D, BM=64, BN=32,
        )  # fmt: skip
        return o
    ragged = Skv % 128 != 0
    # Registers suffice for three groups with heads of 64, if there is no mask beside the loop.
    groups = 2 if D == 128 or (ragged and not causal) else 3
    tiles = triton.cdiv(Sq, groups * 64)
    items = B * H * (triton.cdiv(tiles, 2) if causal else tiles)
    programs = torch.cuda.get_device_properties(q.device).multi_processor_count
    maps = [described(x, rows) for x, rows in ((q, 64), (k, 128), (v, 128), (o, 64))]
    attend[(min(programs, items),)](
        *maps, tiles, items, H, H // Hkv, Sq, Skv, scale, GROUPS=groups, BN=128, STAGES=2,
        CAUSAL=bool(causal), RAGGED=ragged and not causal, num_warps=4,
    )  # fmt: skip
    return o
