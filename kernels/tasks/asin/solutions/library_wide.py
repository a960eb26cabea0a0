"""The library's function on blocks of which each thread loads 16 bytes at a time."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def asin(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    result = libdevice.asin(value)
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    asin[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
