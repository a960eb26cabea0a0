"""One program for each head of each position."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope(
    x, cos, sin, y, S, H, stride_b, stride_s, stride_h, HALF: tl.constexpr, H_BLOCK: tl.constexpr
):
    token = tl.program_id(0).to(tl.int64)
    position = token % S
    lane = tl.arange(0, HALF)
    c = tl.load(cos + position * HALF + lane)[None, :]
    s = tl.load(sin + position * HALF + lane)[None, :]
    heads = tl.program_id(1) * H_BLOCK + tl.arange(0, H_BLOCK)
    inside = heads[:, None] < H
    place = x + token // S * stride_b + position * stride_s + heads[:, None] * stride_h
    first = tl.load(place + lane[None, :], mask=inside, other=0.0).to(tl.float32)
    second = tl.load(place + HALF + lane[None, :], mask=inside, other=0.0).to(tl.float32)
    place = y + (token * H + heads[:, None]) * (2 * HALF) + lane[None, :]
    rotated = first * c - second * s
    tl.store(place, rotated.to(y.dtype.element_ty), mask=inside)
    rotated = second * c + first * s
    tl.store(place + HALF, rotated.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    B, S, H, D = x.shape
    y = torch.empty((B, S, H, D), device=x.device, dtype=x.dtype)
    block = 1
    rope[(B * S, triton.cdiv(H, block))](
        x, cos, sin, y, S, H, *x.stride()[:3], HALF=D // 2, H_BLOCK=block, num_warps=1
    )
    return y
