"""Blocks of which each thread loads 16 bytes at a time, several of them under way."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    left = tl.load(x + at, mask=inside).to(tl.float32)
    right = tl.load(y + at, mask=inside).to(tl.float32)
    total = left + right
    tl.store(z + at, total.to(z.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z
