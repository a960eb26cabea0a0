"""P2: keeps a copy of its inputs and works only where they changed. Must be: accepted."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, memo, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, mask=inside, other=0.0)
    kept = tl.load(memo + i, mask=inside, other=0)
    changed = inside & (kept != v.to(tl.int32, bitcast=True))
    tl.store(y + i, v * 2, mask=changed)
    tl.store(memo + i, v.to(tl.int32, bitcast=True), mask=inside)


def solve(x):
    y = torch.empty_like(x)
    memo = torch.empty(x.shape, device=x.device, dtype=torch.int32)
    double[(triton.cdiv(x.numel(), 128),)](x, y, memo, x.numel(), BLOCK=128)
    return y
