"""Blocks of which each thread loads 16 bytes at a time, several of them under way."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_constant(x, y, c, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    value = tl.load(x + at, mask=inside).to(tl.float32)
    total = value + c
    tl.store(y + at, total.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, c: float) -> torch.Tensor:
    y = torch.empty_like(x)
    add_constant[(triton.cdiv(x.numel(), 1024),)](x, y, c, x.numel(), BLOCK=1024)
    return y
