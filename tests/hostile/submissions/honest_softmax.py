"""The honest twin: what many rows end with, and what must pass after each group."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    top = tl.full((), float("-inf"), tl.float32)
    total = tl.zeros((), tl.float32)
    for start in range(0, N, BLOCK):
        inside = start + columns < N
        place = x + row * stride + start + columns
        values = tl.load(place, mask=inside, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(values, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(values - higher), axis=0)
        top = higher
    for start in range(0, N, BLOCK):
        inside = start + columns < N
        place = x + row * stride + start + columns
        values = tl.load(place, mask=inside, other=float("-inf")).to(tl.float32)
        result = tl.exp(values - top) / total
        tl.store(y + row * N + start + columns, result.to(y.dtype.element_ty), mask=inside)


def solve(x):
    rows, columns = x.shape
    y = torch.empty((rows, columns), device=x.device, dtype=x.dtype)
    softmax_rows[(rows,)](x, y, x.stride(0), columns, BLOCK=2048)
    return y
