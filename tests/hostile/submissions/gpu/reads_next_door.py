"""P5: its result depends on what lies after its input. Must be: wrong_answer or unstable."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, mask=inside, other=0.0)
    beyond = tl.load(x + n + (i % 16))
    tl.store(y + i, v * 2 + beyond * 1e-30, mask=inside)


def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
