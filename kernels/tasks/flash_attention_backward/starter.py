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
def change_keys_and_values(
    q, k, do, lse, dk, dv, qb, qh, qs, kb, kh, ks, gb, gh, gs,
    H, GROUP, Sq, Skv, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    owners = H // GROUP
    batch, owner = tl.program_id(1) // owners, tl.program_id(1) % owners
    keys = tl.program_id(0) * BN + tl.arange(0, BN)
    k_tile = tile(k, batch, owner, keys, Skv, kb, kh, ks, D)
    k_result = tl.zeros((BN, D), tl.float32)
    v_result = tl.zeros((BN, D), tl.float32)
    first = max(tl.program_id(0) * BN - (Skv - Sq), 0) // BM * BM if CAUSAL else 0
    for head in range(owner * GROUP, owner * GROUP + GROUP):
        for start in range(first, Sq, BM):
            rows = start + tl.arange(0, BM)
            q_tile = tile(q, batch, head, rows, Sq, qb, qh, qs, D)
            do_tile = tile(do, batch, head, rows, Sq, gb, gh, gs, D)
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
            # Only dv is summed here. The changes of the weights are missing, for dk and for dq.
    place = tl.program_id(1).to(tl.int64) * Skv * D
    place += keys[:, None] * D + tl.arange(0, D)[None, :]
    inside = keys[:, None] < Skv
    tl.store(dk + place, (k_result * scale).to(dk.dtype.element_ty), mask=inside)
    tl.store(dv + place, v_result.to(dv.dtype.element_ty), mask=inside)


def solve(q, k, v, o, do, lse, causal):
    B, H, Sq, D = q.shape
    Hkv, Skv = k.shape[1:3]
    dq, dk, dv = (torch.empty(x.shape, device=q.device, dtype=q.dtype) for x in (q, k, v))
    dq.zero_()
    steps = [step for x in (q, k, do) for step in x.stride()[:3]]
    change_keys_and_values[(triton.cdiv(Skv, 32), B * Hkv)](
        q, k, do, lse, dk, dv, *steps, H, H // Hkv, Sq, Skv, D**-0.5,
        CAUSAL=bool(causal), D=D, BM=32, BN=32, num_stages=2,
    )  # fmt: skip
    return dq, dk, dv
