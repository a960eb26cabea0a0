"""The whole row in registers, read once, 16 bytes at a time."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, w, y, stride_units, units, eps, UNIT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    N = units * UNIT
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    place = x + row * (stride_units * UNIT) + columns
    value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / N + eps)
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    result = value * scale * weight
    tl.store(y + row * N + columns, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    stride = x.stride(0)
    # In units of as many elements as are loaded at a time, so that the compiler knows it may.
    unit = math.gcd(N, stride, 16 // x.element_size())
    block = triton.next_power_of_2(N)
    warps = min(max(block // 1024, 1), 16)
    rms_norm[(M,)](x, w, y, stride // unit, N // unit, eps, UNIT=unit, BLOCK=block, num_warps=warps)
    return y
