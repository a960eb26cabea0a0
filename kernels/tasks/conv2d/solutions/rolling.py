"""Strips that roll down an image: each row is loaded once for all rows of the result it is part of.

A window of 5 by 5 needs 5 loads for each number instead of 25, since shifts to the right are loads,
but those down are sums that wait for the next row.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv2d(
    x, k, y, H, W, stride_b, stride_h, KH: tl.constexpr, KW: tl.constexpr, TALL: tl.constexpr,
    WIDE: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(2).to(tl.int64)
    top = tl.program_id(1) * TALL
    columns = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    x += image * stride_b + top.to(tl.int64) * stride_h + columns
    y += (image * H + top - (KH - 1)) * W + columns
    weights = ()
    for place in tl.static_range(KH * KW):
        weights = weights + (tl.load(k + place).to(tl.float32),)  # noqa: RUF005
    # Sums of the rows of the result that end further down, the nearest first.
    sums = ()
    for _ in tl.static_range(KH - 1):
        sums = sums + (tl.zeros((WIDE,), tl.float32),)  # noqa: RUF005
    for row in tl.range(top, tl.minimum(top + TALL, H) + KH - 1, loop_unroll_factor=4):
        values = ()
        for v in tl.static_range(KW):
            inside = (columns + v < W) & (row < H)
            value = tl.load(x + v, mask=inside, other=0.0)
            values = values + (value.to(tl.float32),)  # noqa: RUF005
        rolled = ()
        for u in tl.static_range(KH):
            # What this row adds to the one of which it is the last, the last but one, ...
            total = tl.zeros((WIDE,), tl.float32) if u == KH - 1 else sums[u]
            for v in tl.static_range(KW):
                total += values[v] * weights[(KH - 1 - u) * KW + v]
            rolled = rolled + (total,)  # noqa: RUF005
        ended = (columns < W) & (row >= top + KH - 1)
        tl.store(y, rolled[0].to(y.dtype.element_ty), mask=ended)
        sums = rolled[1:]
        x += stride_h
        y += W


def solve(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    B, H, W = x.shape
    y = torch.empty((B, H, W), device=x.device, dtype=x.dtype)
    wide, tall = min(max(triton.next_power_of_2(W), 32), 256), 32
    grid = (triton.cdiv(W, wide), triton.cdiv(H, tall), B)
    sizes = (H, W, *x.stride()[:2], *k.shape)
    conv2d[grid](x, k, y, *sizes, TALL=tall, WIDE=wide, num_warps=max(wide // 128, 1))
    return y
