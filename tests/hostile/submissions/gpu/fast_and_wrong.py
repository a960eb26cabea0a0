"""P14: of two configurations the faster one is wrong. Must be: wrong_answer."""

import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"SKIP": False}), triton.Config({"SKIP": True})], key=["n"])
@triton.jit
def double(x, y, n, SKIP: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    v = tl.load(x + i, mask=i < n, other=0.0)
    if not SKIP:
        for _ in range(200):
            v = tl.load(x + i, mask=i < n, other=0.0, volatile=True)
    tl.store(y + i, tl.where(SKIP, v, v * 2), mask=i < n)


def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 128),)](x, y, x.numel())
    return y
