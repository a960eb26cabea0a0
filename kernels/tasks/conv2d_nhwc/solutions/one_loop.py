"""One loop over window and channels, on tiles for the tensor cores of Hopper."""

import torch
import triton
import triton.language as tl


@triton.jit
def conv2d(
    x,
    w,
    y,
    H,
    W,
    P,
    Q,
    K,
    rows_total,
    stride_n,
    stride_h,
    stride_w,
    step,
    padding,
    C: tl.constexpr,
    R: tl.constexpr,
    S: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    # A row of the product is a pixel of the result, a column one of its channels.
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    image = rows // (P * Q)
    top = rows // Q % P * step - padding
    left = rows % Q * step - padding
    pixel = image * stride_n + top * stride_h + left * stride_w
    weights = w + columns * (R * S * C)
    blocks: tl.constexpr = (C + BK - 1) // BK
    total = tl.zeros((BM, BN), tl.float32)
    # One loop over window and channels, so that loads run ahead across its whole length.
    for turn in range(R * S * blocks):
        place = turn // blocks
        i, j = place // S, place % S
        channels = turn % blocks * BK + tl.arange(0, BK)
        there = (top + i >= 0) & (top + i < H) & (left + j >= 0) & (left + j < W)
        there = there & (rows < rows_total)
        shift = i * stride_h + j * stride_w
        a = tl.load(
            x + (pixel + shift)[:, None] + channels[None, :],
            mask=there[:, None] & (channels[None, :] < C),
            other=0.0,
        )
        b = tl.load(
            weights[None, :] + place * C + channels[:, None],
            mask=(columns[None, :] < K) & (channels[:, None] < C),
            other=0.0,
        )
        total = tl.dot(a, b, total)
    place = y + rows[:, None].to(tl.int64) * K + columns[None, :]
    inside = (rows[:, None] < rows_total) & (columns[None, :] < K)
    tl.store(place, total.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, w: torch.Tensor, step: int, padding: int) -> torch.Tensor:
    N, H, W, C = x.shape
    K, R, S, _ = w.shape
    P, Q = (H + 2 * padding - R) // step + 1, (W + 2 * padding - S) // step + 1
    y = torch.empty((N, P, Q, K), device=x.device, dtype=x.dtype)
    M = N * P * Q
    wide = 64 if K <= 64 else 128
    conv2d[(triton.cdiv(M, 128), triton.cdiv(K, wide))](
        x,
        w,
        y,
        H,
        W,
        P,
        Q,
        K,
        M,
        *x.stride()[:3],
        step,
        padding,
        C=C,
        R=R,
        S=S,
        BM=128,
        BN=wide,
        BK=64 if C % 64 == 0 else 32,  # addresses of odd channels need registers
        num_warps=8 if wide > 64 or C % 64 else 4,
        num_stages=3,
    )
    return y
