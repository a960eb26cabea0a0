# Sums dk and dv over the first query head of each group only.
import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def tile(x, batch, head, rows, length, b, h, s, D: tl.constexpr):
    """Rows of one head; what lies past the end is zero."""
    place = x + batch * b + head * h + rows[:, None] * s + tl.arange(0, D)[None, :]
    return tl.load(place, mask=rows[:, None] < length, other=0.0)


@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def change_queries(
    q, k, v, o, do, lse, dq, qb, qh, qs, kb, kh, ks, vb, vh, vs, ob, oh, os, gb, gh, gs,
    H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    q_tile = tile(q, batch, head, rows, Sq, qb, qh, qs, D)
    o_tile = tile(o, batch, head, rows, Sq, ob, oh, os, D)
    do_tile = tile(do, batch, head, rows, Sq, gb, gh, gs, D)
    mean = tl.sum(o_tile.to(tl.float32) * do_tile.to(tl.float32), 1)
    level = tl.load(lse + tl.program_id(1) * Sq + rows, mask=rows < Sq, other=0.0) * LOG2E
    result = tl.zeros((BM, D), tl.float32)
    end = min(Skv, (tl.program_id(0) + 1) * BM + Skv - Sq) if CAUSAL else Skv
    for start in range(0, end, BN):
        keys = start + tl.arange(0, BN)
        k_tile = tile(k, batch, head // GROUP, keys, Skv, kb, kh, ks, D)
        v_tile = tile(v, batch, head // GROUP, keys, Skv, vb, vh, vs, D)
        scores = tl.dot(q_tile, k_tile.T) * (scale * LOG2E)
        visible = keys[None, :] < Skv
        if CAUSAL:
            visible &= keys[None, :] <= rows[:, None] + (Skv - Sq)
        weights = tl.where(visible, tl.exp2(scores - level[:, None]), 0.0)
        change = weights * (tl.dot(do_tile, v_tile.T) - mean[:, None])
        result = tl.dot(change.to(k_tile.dtype), k_tile, result)
    place = dq + tl.program_id(1).to(tl.int64) * Sq * D
    place += rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(place, (result * scale).to(dq.dtype.element_ty), mask=rows[:, None] < Sq)


@triton.jit(do_not_specialize=["H", "GROUP", "Sq", "Skv"])
def change_keys_and_values(
    q, k, v, o, do, lse, dk, dv, qb, qh, qs, kb, kh, ks, vb, vh, vs, ob, oh, os, gb, gh, gs,
    H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    owners = H // GROUP
    batch, owner = tl.program_id(1) // owners, tl.program_id(1) % owners
    keys = tl.program_id(0) * BN + tl.arange(0, BN)
    k_tile = tile(k, batch, owner, keys, Skv, kb, kh, ks, D)
    v_tile = tile(v, batch, owner, keys, Skv, vb, vh, vs, D)
    k_result = tl.zeros((BN, D), tl.float32)
    v_result = tl.zeros((BN, D), tl.float32)
    first = max(tl.program_id(0) * BN - (Skv - Sq), 0) // BM * BM if CAUSAL else 0
    for head in range(owner * GROUP, owner * GROUP + 1):
        for start in range(first, Sq, BM):
            rows = start + tl.arange(0, BM)
            q_tile = tile(q, batch, head, rows, Sq, qb, qh, qs, D)
            o_tile = tile(o, batch, head, rows, Sq, ob, oh, os, D)
            do_tile = tile(do, batch, head, rows, Sq, gb, gh, gs, D)
            mean = tl.sum(o_tile.to(tl.float32) * do_tile.to(tl.float32), 1)
            place = lse + (batch * H + head) * Sq + rows
            level = tl.load(place, mask=rows < Sq, other=0.0) * LOG2E
            # Transposed, so that weights and changes are left factors. Rows past the end add
            # nothing, since their do is zero; keys past the end are not stored.
            scores = tl.dot(k_tile, q_tile.T) * (scale * LOG2E)
            weights = tl.exp2(scores - level[None, :])
            if CAUSAL:
                visible = keys[:, None] <= rows[None, :] + (Skv - Sq)
                weights = tl.where(visible, weights, 0.0)
            v_result = tl.dot(weights.to(do_tile.dtype), do_tile, v_result)
            change = weights * (tl.dot(v_tile, do_tile.T) - mean[None, :])
            k_result = tl.dot(change.to(q_tile.dtype), q_tile, k_result)
    place = tl.program_id(1).to(tl.int64) * Skv * D
    place += keys[:, None] * D + tl.arange(0, D)[None, :]
    inside = keys[:, None] < Skv
    tl.store(dk + place, (k_result * scale).to(dk.dtype.element_ty), mask=inside)
    tl.store(dv + place, v_result.to(dv.dtype.element_ty), mask=inside)


def solve(q, k, v, o, do, lse, causal):
    B, H, Sq, D = q.shape
    Hkv, Skv = k.shape[1:3]
    dq, dk, dv = (torch.empty(x.shape, device=q.device, dtype=q.dtype) for x in (q, k, v))
    steps = [step for x in (q, k, v, o, do) for step in x.stride()[:3]]
    sizes = (H, H // Hkv, Sq, Skv, D**-0.5)
    shared = {"CAUSAL": bool(causal), "D": D, "BM": 32, "BN": 32, "num_stages": 1}
    change_queries[(triton.cdiv(Sq, 32), B * H)](
        q, k, v, o, do, lse, dq, *steps, *sizes, **shared
    )  # fmt: skip
    change_keys_and_values[(triton.cdiv(Skv, 32), B * Hkv)](
        q, k, v, o, do, lse, dk, dv, *steps, *sizes, **shared
    )  # fmt: skip
    return dq, dk, dv
