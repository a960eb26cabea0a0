"""P2: counts its runs in scratch memory and works in the first alone. Must be: wrong_answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, memo, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    runs = tl.load(memo + i, mask=inside, other=0)
    tl.store(memo + i, runs + 1, mask=inside)
    v = tl.load(x + i, mask=inside & (runs == 0), other=0.0)
    tl.store(y + i, v * 2, mask=inside & (runs == 0))


def solve(x):
    y = torch.empty_like(x)
    memo = torch.empty(x.shape, device=x.device, dtype=torch.int32)
    double[(triton.cdiv(x.numel(), 128),)](x, y, memo, x.numel(), BLOCK=128)
    return y
