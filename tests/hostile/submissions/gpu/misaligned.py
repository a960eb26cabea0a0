"""P9, Z115: loads from an odd address. Must be: runtime_error."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    odd = (x.to(tl.int64, bitcast=True) + 1).to(tl.pointer_type(tl.float32), bitcast=True)
    v = tl.load(odd + i, mask=i < n - 1, other=0.0)
    tl.store(y + i, v * 2, mask=inside)


def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y
