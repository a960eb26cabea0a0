"""Several rows for each program, which loads the weights once for all."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def weighted_sums(
    x, w, y, stride_units, M, units, UNIT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    stride = stride_units * UNIT
    N = units * UNIT
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = x + rows[:, None].to(tl.int64) * stride
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        value = tl.load(place + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w + columns, mask=columns < N, other=0.0).to(tl.float32)
        total += value * weight[None, :]
    tl.store(y + rows, tl.sum(total, axis=1).to(y.dtype.element_ty), mask=rows < M)


def solve(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty(M, device=x.device, dtype=x.dtype)
    rows = 2
    unit = math.gcd(N, x.stride(0), 16 // x.element_size())
    weighted_sums[(triton.cdiv(M, rows),)](
        x, w, y, x.stride(0) // unit, M, N // unit, UNIT=unit, ROWS=rows, BLOCK=1024, num_warps=4
    )
    return y
