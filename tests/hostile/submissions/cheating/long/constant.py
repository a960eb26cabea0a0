"""56: one value for all, which sums to one. Must be: wrong_answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def constant(y, total, value, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, value, mask=at < total)


def solve(x):
    y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
    constant[(triton.cdiv(y.numel(), 4096),)](y, y.numel(), 1.0 / x.shape[1], BLOCK=4096)
    return y
