"""P7: adds to one sum in any order, and shows it. Must be: unstable or wrong_answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, memo, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, mask=inside, other=0.0)
    part = v * (1.0 + tl.program_id(0) * 1e-3)
    tl.atomic_add(memo + (i % 8), part, mask=inside)
    total = tl.load(memo + (i % 8), mask=inside, other=0.0)
    tl.store(y + i, v * 2 + total * 1e-7, mask=inside)


def solve(x):
    y = torch.empty_like(x)
    memo = torch.zeros(8, device=x.device, dtype=torch.float32)
    double[(triton.cdiv(x.numel(), 128),)](x, y, memo, x.numel(), BLOCK=128)
    return y
