"""54: NaN everywhere, in the hope that it equals all. Must be: wrong_answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def poison(y, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, float("nan"), mask=at < total)


def solve(x):
    y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
    poison[(triton.cdiv(y.numel(), 4096),)](y, y.numel(), BLOCK=4096)
    return y
