"""Tiles by the copy engine; blocks of keys that every row sees need no mask, the others come last.

Tensors that the copy engine cannot read take plain pointers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def set_blocks(arguments):
    """The descriptors' block shapes follow the configuration."""
    for name, rows in (("q", "BM"), ("k", "BN"), ("v", "BN"), ("o", "BM")):
        arguments[name].block_shape = [1, 1, arguments[rows], arguments["D"]]


def config(bm: int, bn: int, warps: int, stages: int) -> triton.Config:
    return triton.Config(
        {"BM": bm, "BN": bn}, num_warps=warps, num_stages=stages, pre_hook=set_blocks
    )


CONFIGS = [config(64, 64, 4, 3), config(64, 128, 4, 2)]


@triton.jit
def attend_blocks(
    queries, k, v, batch, owner, first, last, rows, offset, Skv, scale, top, total, result,
    MASKED: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    for start in range(first, last, BN):
        k_tile = k.load([batch, owner, start, 0]).reshape(BN, D)
        scores = tl.dot(queries, k_tile.T)
        if MASKED:
            keys = start + tl.arange(0, BN)
            visible = keys[None, :] < Skv
            if CAUSAL:
                visible &= keys[None, :] <= rows[:, None] + offset
            scores = tl.where(visible, scores, float("-inf"))
        highest = tl.maximum(top, tl.max(scores, 1) * scale)
        # A row that has seen no key yet has no maximum to take off.
        shift = tl.where(highest == float("-inf"), 0.0, highest) if MASKED else highest
        weights = tl.exp2(scores * scale - shift[:, None])
        shrink = tl.exp2(top - shift)
        total = total * shrink + tl.sum(weights, 1)
        v_tile = v.load([batch, owner, start, 0]).reshape(BN, D)
        result = tl.dot(weights.to(v_tile.dtype), v_tile, result * shrink[:, None])
        top = highest
    return top, total, result


@triton.autotune(CONFIGS, key=["Sq", "Skv", "CAUSAL", "D"])
@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def attend(
    q, k, v, o, H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    # The longest rows first: what is left at the end is short.
    tile = tl.num_programs(0) - 1 - tl.program_id(0)
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    rows = tile * BM + tl.arange(0, BM)
    queries = q.load([batch, head, tile * BM, 0]).reshape(BM, D)
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    offset = Skv - Sq
    end = min(Skv, (tile + 1) * BM + offset) if CAUSAL else Skv
    plain = min(Skv, max(tile * BM + offset + 1, 0)) if CAUSAL else Skv
    plain = plain // BN * BN
    top, total, result = attend_blocks(
        queries, k, v, batch, head // GROUP, 0, plain, rows, offset, Skv, scale, top, total, result,
        False, CAUSAL, D, BN,
    )  # fmt: skip
    top, total, result = attend_blocks(
        queries, k, v, batch, head // GROUP, plain, end, rows, offset, Skv, scale, top, total,
        result, True, CAUSAL, D, BN,
    )  # fmt: skip
    result *= (1.0 / tl.where(total == 0.0, 1.0, total))[:, None]
    o.store([batch, head, tile * BM, 0], result.to(o.dtype).reshape(1, 1, BM, D))


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


def solve(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: int) -> torch.Tensor:
    B, H, Sq, D = q.shape
    Hkv, Skv = k.shape[1:3]
    o = torch.empty((B, H, Sq, D), device=q.device, dtype=q.dtype)
    scale = 1.4426950408889634 / D**0.5  # log2(e): the kernel's exponentials have base 2
    shared = {"CAUSAL": bool(causal), "D": D}
    if not all(copyable(x) for x in (q, k, v)):
        attend_by_pointers[(triton.cdiv(Sq, 64), B * H)](
            q, k, v, o, *q.stride(), *k.stride(), *v.stride(), H, H // Hkv, Sq, Skv, scale,
            BM=64, BN=32, **shared,
        )  # fmt: skip
        return o
    maps = [TensorDescriptor.from_tensor(x, [1, 1, 1, D]) for x in (q, k, v, o)]

    def tiles(meta):
        return (triton.cdiv(Sq, meta["BM"]), B * H)

    attend[tiles](*maps, H, H // Hkv, Sq, Skv, scale, **shared)
    return o
