"""125, Z63: asks for more memory than a plan may have. Must be: rejected."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, memo, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(memo + i, 1.0, mask=i < n)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def solve(x):
    y = torch.empty_like(x)
    memo = torch.empty(1 << 36, device=x.device)
    double[(triton.cdiv(x.numel(), 128),)](x, y, memo, x.numel(), BLOCK=128)
    return y
