"""P12, Z50, 122: a loop that the compiler unrolls without end. Must be: timeout, build_error or rejected."""

import torch
import triton
import triton.language as tl


@triton.jit
def unrolled(x, y):
    value = tl.load(x).to(tl.float32)
    for i in tl.static_range(1_000_000):
        value = tl.exp(value) + i
    tl.store(y, value)


def solve(x):
    y = torch.empty(x.shape, device=x.device, dtype=torch.float32)
    unrolled[(1,)](x, y)
    return y.to(x.dtype)
