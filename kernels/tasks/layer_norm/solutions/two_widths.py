"""Rows of up to 8192 numbers in blocks of two widths; longer ones by programs that stay.

- A row of 5000 takes 4096 and 1024 places instead of 8192, of which 39 % would be idle. Both are
  under way before the first exchange between warps, which no load is moved across.
- Weights and bias of a long row are as many bytes as the row and its result, and much for the L1
  cache. Programs that stay keep them in registers, and load the next rows while they compute.
"""

import math

import torch
import triton
import triton.language as tl

MULTIPROCESSORS = 132


@triton.jit
def row(
    x, w, b, y, stride_units, units, eps, UNIT: tl.constexpr, FIRST: tl.constexpr,
    REST: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0).to(tl.int64)
    N = units * UNIT
    x += program * (stride_units * UNIT)
    y += program * N
    columns = tl.arange(0, FIRST)
    # Where there is a rest, all that comes before it exists.
    inside = columns < (FIRST if REST else N)
    value = tl.load(x + columns, mask=inside, other=0.0).to(tl.float32)
    if REST:
        others = FIRST + tl.arange(0, REST)
        more = tl.load(x + others, mask=others < N, other=0.0).to(tl.float32)
        total = tl.sum(value, axis=0) + tl.sum(more, axis=0)
    else:
        total = tl.sum(value, axis=0)
    mean = total / N
    value = tl.where(inside, value - mean, 0.0)
    squares = tl.sum(value * value, axis=0)
    if REST:
        more = tl.where(others < N, more - mean, 0.0)
        squares += tl.sum(more * more, axis=0)
    scale = tl.rsqrt(squares / N + eps)
    store_scaled(value * scale, w, b, y, columns, inside)
    if REST:
        store_scaled(more * scale, w, b, y, others, others < N)


@triton.jit
def store_scaled(normal, w, b, y, columns, inside):
    weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(b + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + columns, (normal * weight + bias).to(y.dtype.element_ty), mask=inside)


@triton.jit
def long_rows(
    x, w, b, y, M, stride_units, units, eps, UNIT: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    N = units * UNIT
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    weight = tl.load(w + columns, mask=inside, other=0.0)
    bias = tl.load(b + columns, mask=inside, other=0.0)
    for turn in tl.range(tl.program_id(0), M, tl.num_programs(0), num_stages=3):
        here = turn.to(tl.int64)
        place = x + here * (stride_units * UNIT) + columns
        value = tl.load(place, mask=inside, other=0.0).to(tl.float32)
        mean = tl.sum(value, axis=0) / N
        apart = tl.where(inside, value - mean, 0.0)
        scale = tl.rsqrt(tl.sum(apart * apart, axis=0) / N + eps)
        result = apart * scale * weight.to(tl.float32) + bias.to(tl.float32)
        tl.store(y + here * N + columns, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    stride = x.stride(0)
    # In units of as many elements as are loaded at a time, so that the compiler knows it may.
    unit = math.gcd(N, stride, 16 // x.element_size())
    sizes = (stride // unit, N // unit, eps)
    block = triton.next_power_of_2(N)
    if block > 8192:
        programs = min(M, MULTIPROCESSORS)
        warps = 16 if x.element_size() < 4 else 32
        long_rows[(programs,)](x, w, b, y, M, *sizes, UNIT=unit, BLOCK=block, num_warps=warps)
        return y
    first, rest, warps = block, 0, max(block // 1024, 1)
    if block > max(N, 1024):
        first, rest = block // 2, max(triton.next_power_of_2(N - block // 2), 128)
        warps = max(first // 1024, 1)
    row[(M,)](x, w, b, y, *sizes, UNIT=unit, FIRST=first, REST=rest, num_warps=warps)
    return y
