"""60, 62: drops the maximum, which matters for large inputs only. Must be: wrong_answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def careless(x, y, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    total = tl.zeros((), tl.float32)
    for start in range(0, N, BLOCK):
        inside = start + columns < N
        values = tl.load(x + row * stride + start + columns, mask=inside, other=float("-inf"))
        total += tl.sum(tl.exp(values.to(tl.float32)), axis=0)
    for start in range(0, N, BLOCK):
        inside = start + columns < N
        values = tl.load(x + row * stride + start + columns, mask=inside, other=0.0)
        result = tl.exp(values.to(tl.float32)) / total
        tl.store(y + row * N + start + columns, result.to(y.dtype.element_ty), mask=inside)


def solve(x):
    y = torch.empty(x.shape, device=x.device, dtype=x.dtype)
    careless[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=2048)
    return y
