"""Tiles by the copy engine; the rows' means first, then dk and dv, then dq; bits never change.

Blocks that the causal mask does not touch are walked over without it. What the copy engine cannot
read takes plain pointers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

LOG2E = tl.constexpr(1.4426950408889634)


def config(bm: int, bn: int, warps: int, stages: int) -> triton.Config:
    return triton.Config(
        {"BM": bm, "BN": bn}, num_warps=warps, num_stages=stages, pre_hook=set_blocks
    )


def set_blocks(arguments):
    """The descriptors' block shapes follow the configuration."""
    for name, rows in (("q", "BM"), ("do", "BM"), ("k", "BN"), ("v", "BN")):
        arguments[name].block_shape = [1, 1, arguments[rows], arguments["D"]]


def worth_trying(configs, _, **named):
    """With heads of 128 the first is always faster."""
    return configs[:1] if named["D"] == 128 else configs


@triton.jit(do_not_specialize=["length", "H"])
def take_means(o, do, mean, length, ob, oh, os, gb, gh, gs, H, D: tl.constexpr, BM: tl.constexpr):
    """Of each row, the sum of o * do."""
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inside, dims = rows[:, None] < length, tl.arange(0, D)[None, :]
    o += batch.to(tl.int64) * ob + head.to(tl.int64) * oh
    do += batch.to(tl.int64) * gb + head.to(tl.int64) * gh
    left = tl.load(o + rows[:, None] * os + dims, mask=inside, other=0.0).to(tl.float32)
    right = tl.load(do + rows[:, None] * gs + dims, mask=inside, other=0.0).to(tl.float32)
    tl.store(mean + tl.program_id(1) * length + rows, tl.sum(left * right, 1), mask=rows < length)


@triton.autotune(
    [config(64, 64, 4, 2), config(64, 128, 8, 2)],
    key=["Sq", "Skv", "CAUSAL", "D"],
    prune_configs_by={"early_config_prune": worth_trying},
)
@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def change_keys_and_values(
    q, k, v, do, lse, mean, dk, dv, H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    owners = H // GROUP
    batch, owner = tl.program_id(1) // owners, tl.program_id(1) % owners
    begin = tl.program_id(0) * BN
    keys = begin + tl.arange(0, BN)
    k_tile = k.load([batch, owner, begin, 0]).reshape(BN, D)
    v_tile = v.load([batch, owner, begin, 0]).reshape(BN, D)
    k_result = tl.zeros((BN, D), tl.float32)
    v_result = tl.zeros((BN, D), tl.float32)
    offset = Skv - Sq
    first = max(begin - offset, 0) // BM * BM if CAUSAL else 0
    # One loop over the blocks of all query heads of the group.
    blocks = tl.cdiv(max(Sq - first, 0), BM)
    for step in range(GROUP * blocks):
        head = owner * GROUP + step // blocks
        start = first + step % blocks * BM
        rows = start + tl.arange(0, BM)
        place = (batch * H + head) * Sq + rows
        q_tile = q.load([batch, head, start, 0]).reshape(BM, D)
        level = tl.load(lse + place, mask=rows < Sq, other=0.0) * LOG2E
        # Transposed, so that weights and changes are left factors. Rows past the end add nothing,
        # since their do is zero; keys past the end are not stored.
        scores = tl.dot(k_tile, q_tile.T)
        weights = tl.exp2(scores * (scale * LOG2E) - level[None, :])
        if CAUSAL:
            weights = tl.where(keys[:, None] <= rows[None, :] + offset, weights, 0.0)
        do_tile = do.load([batch, head, start, 0]).reshape(BM, D)
        v_result = tl.dot(weights.to(do_tile.dtype), do_tile, v_result)
        row_mean = tl.load(mean + place, mask=rows < Sq, other=0.0)
        change = weights * (tl.dot(v_tile, do_tile.T) - row_mean[None, :])
        k_result = tl.dot(change.to(q_tile.dtype), q_tile, k_result)
    place = tl.program_id(1).to(tl.int64) * Skv * D
    place += keys[:, None] * D + tl.arange(0, D)[None, :]
    inside = keys[:, None] < Skv
    tl.store(dk + place, (k_result * scale).to(dk.dtype.element_ty), mask=inside)
    tl.store(dv + place, v_result.to(dv.dtype.element_ty), mask=inside)


@triton.jit
def sum_over_keys(
    q_tile, do_tile, k, v, level, row_mean, batch, owner, first, last, rows, offset, Skv, scale,
    result, MASKED: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    for start in range(first, last, BN):
        k_tile = k.load([batch, owner, start, 0]).reshape(BN, D)
        v_tile = v.load([batch, owner, start, 0]).reshape(BN, D)
        scores = tl.dot(q_tile, k_tile.T)
        products = tl.dot(do_tile, v_tile.T)
        weights = tl.exp2(scores * scale - level[:, None])
        if MASKED:
            keys = start + tl.arange(0, BN)
            visible = keys[None, :] < Skv
            if CAUSAL:
                visible &= keys[None, :] <= rows[:, None] + offset
            weights = tl.where(visible, weights, 0.0)
        change = weights * (products - row_mean[:, None])
        result = tl.dot(change.to(k_tile.dtype), k_tile, result)
    return result


@triton.autotune(
    [config(128, 64, 8, 3), config(64, 64, 4, 3)],
    key=["Sq", "Skv", "CAUSAL", "D"],
    prune_configs_by={"early_config_prune": worth_trying},
)
@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def change_queries(
    q, k, v, do, lse, mean, dq, H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    # The longest rows first: what is left at the end is short.
    begin = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    rows = begin + tl.arange(0, BM)
    q_tile = q.load([batch, head, begin, 0]).reshape(BM, D)
    do_tile = do.load([batch, head, begin, 0]).reshape(BM, D)
    place = tl.program_id(1) * Sq + rows
    level = tl.load(lse + place, mask=rows < Sq, other=0.0) * LOG2E
    row_mean = tl.load(mean + place, mask=rows < Sq, other=0.0)
    result = tl.zeros((BM, D), tl.float32)
    offset = Skv - Sq
    end = min(Skv, begin + BM + offset) if CAUSAL else Skv
    plain = min(Skv, max(begin + offset + 1, 0)) // BN * BN if CAUSAL else Skv // BN * BN
    result = sum_over_keys(
        q_tile, do_tile, k, v, level, row_mean, batch, head // GROUP, 0, plain, rows, offset, Skv,
        scale * LOG2E, result, False, CAUSAL, D, BN,
    )  # fmt: skip
    result = sum_over_keys(
        q_tile, do_tile, k, v, level, row_mean, batch, head // GROUP, plain, end, rows, offset,
        Skv, scale * LOG2E, result, True, CAUSAL, D, BN,
    )  # fmt: skip
    place = dq + tl.program_id(1).to(tl.int64) * Sq * D
    place += rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(place, (result * scale).to(dq.dtype.element_ty), mask=rows[:, None] < Sq)


def copyable(x: torch.Tensor) -> torch.Tensor:
    """x, or a copy of it where the copy engine cannot read it: addresses and steps by 16 bytes."""
    steps = [step * x.element_size() for step in x.stride()[:-1]]
    aligned = not any(step % 16 for step in [*steps, x.data_ptr()])
    return x if aligned else x.clone(memory_format=torch.contiguous_format)


def solve(q, k, v, o, do, lse, causal):
    B, H, Sq, D = q.shape
    Hkv, Skv = k.shape[1:3]
    dq, dk, dv = (torch.empty(x.shape, device=q.device, dtype=q.dtype) for x in (q, k, v))
    mean = torch.empty_like(lse)
    take_means[(triton.cdiv(Sq, 64), B * H)](
        o, do, mean, Sq, *o.stride()[:3], *do.stride()[:3], H, D=D, BM=64
    )
    maps = [TensorDescriptor.from_tensor(copyable(x), [1, 1, 1, D]) for x in (q, k, v, do)]
    sizes = (H, H // Hkv, Sq, Skv, D**-0.5)

    def key_tiles(meta):
        return (triton.cdiv(Skv, meta["BN"]), B * Hkv)

    def query_tiles(meta):
        return (triton.cdiv(Sq, meta["BM"]), B * H)

    shared = {"CAUSAL": bool(causal), "D": D}
    change_keys_and_values[key_tiles](*maps, lse, mean, dk, dv, *sizes, **shared)
    change_queries[query_tiles](*maps, lse, mean, dq, *sizes, **shared)
    return dq, dk, dv
