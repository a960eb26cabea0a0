# Gives keys past the end a score of zero, and so a weight, unless the mask is causal.
import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def attend(
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
        k_tile = tl.load(
            k + keys[None, :] * ks + dims[:, None] * kd, mask=keys[None, :] < Skv, other=0.0
        )
        scores = tl.dot(queries, k_tile) * scale
        if CAUSAL:
            visible = keys[None, :] <= rows[:, None] + (Skv - Sq)
            scores = tl.where(visible, scores, float("-inf"))
        highest = tl.maximum(top, tl.max(scores, 1))
        # A row that has seen no key yet has no maximum to take off.
        shift = tl.where(highest == float("-inf"), 0.0, highest)
        weights = tl.exp2(scores - shift[:, None])
        shrink = tl.exp2(top - shift)
        total = total * shrink + tl.sum(weights, 1)
        v_tile = tl.load(
            v + keys[:, None] * vs + dims[None, :] * vd, mask=keys[:, None] < Skv, other=0.0
        )
        result = tl.dot(weights.to(v_tile.dtype), v_tile, result * shrink[:, None])
        top = highest
    result /= tl.where(total == 0.0, 1.0, total)[:, None]
    tl.store(o + rows[:, None] * D + dims[None, :], result.to(o.dtype.element_ty), mask=inside)


def solve(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: int) -> torch.Tensor:
    B, H, Sq, D = q.shape
    Hkv, Skv = k.shape[1:3]
    o = torch.empty((B, H, Sq, D), device=q.device, dtype=q.dtype)
    scale = 1.4426950408889634 / D**0.5  # log2(e): the kernel's exponentials have base 2
    attend[(triton.cdiv(Sq, 64), B * H)](
        q, k, v, o, *q.stride(), *k.stride(), *v.stride(), H, H // Hkv, Sq, Skv, scale,
        CAUSAL=bool(causal), D=D, BM=64, BN=64 if D == 64 else 32,
    )  # fmt: skip
    return o
