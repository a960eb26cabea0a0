"""Rows of up to 16384 numbers in the registers of one program, longer rows in those of several.

- A power of two holds the beginning of a row, a second one the rest: a row of 5000 takes 4096 and
  1024 places instead of 8192, of which 39 % would be idle. Both are under way before the first
  exchange between warps, which no load is moved across.
- The programs of a long row publish their maximum and sum in one word each and wait for each
  other's, so that every number is read and written once. They are neighbours in the grid, and GPUs
  start programs in that order: who waits, waits for a program that runs or starts next.
- Long rows pass through the caches without staying there, two warps to a part.
- Widths are passed in units of up to 8 numbers, so that Triton knows that 16 bytes can be loaded at
  a time.
"""

import math

import torch
import triton
import triton.language as tl

LONGEST_IN_REGISTERS = 16384
LONG_BLOCK = 4096
"""Part of a long row: on an H200 the fastest of 4096, 8192 and 16384 numbers."""
# On an H200, fastest of 2, 4, 8, 16 and 32 warps for bfloat16 rows that long, and for ragged ones.
WARPS = {2048: 2, 4096: 2, 8192: 16, 16384: 4}
RAGGED_WARPS = {2048: 2, 4096: 4, 8192: 8}

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NOTHING: tl.constexpr = tl.constexpr(0xFF7FFFFF)
"""As a word of two float32: the sum 0 above the lowest maximum."""


@triton.jit
def row_in_registers(
    x, y, stride_units, units, UNIT: tl.constexpr, FIRST: tl.constexpr, REST: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    N = units * UNIT
    x += row * (stride_units * UNIT)
    y += row * N
    columns = tl.arange(0, FIRST)
    # Where there is a rest, all that comes before it exists.
    inside = columns < (FIRST if REST else N)
    values = tl.load(x + columns, mask=inside, other=float("-inf")).to(tl.float32)
    if REST:
        others = FIRST + tl.arange(0, REST)
        more = tl.load(x + others, mask=others < N, other=float("-inf")).to(tl.float32)
        top = tl.maximum(tl.max(values, axis=0), tl.max(more, axis=0))
    else:
        top = tl.max(values, axis=0)

    # A multiplication and a subtraction in one; what rounds `low` divides out.
    low = top * LOG2E
    powers = tl.exp2(values * LOG2E - low)
    total = tl.sum(powers, axis=0)
    if REST:
        more = tl.exp2(more * LOG2E - low)
        total += tl.sum(more, axis=0)

    scale = 1.0 / total
    tl.store(y + columns, (powers * scale).to(y.dtype.element_ty), mask=inside)
    if REST:
        tl.store(y + others, (more * scale).to(y.dtype.element_ty), mask=others < N)


@triton.jit
def row_in_parts(
    x, y, published, stride_units, units, UNIT: tl.constexpr, BLOCK: tl.constexpr,
    PARTS: tl.constexpr, SLOTS: tl.constexpr,
):  # fmt: skip
    row = (tl.program_id(0) // PARTS).to(tl.int64)
    part = tl.program_id(0) % PARTS
    N = units * UNIT
    columns = part * BLOCK + tl.arange(0, BLOCK)
    inside = columns < N
    place = x + row * (stride_units * UNIT) + columns
    values = tl.load(place, mask=inside, other=float("-inf"), eviction_policy="evict_first")
    values = values.to(tl.float32)
    top = tl.maximum(tl.max(values, axis=0), -3.0e38)
    powers = tl.exp2((values - top) * LOG2E)
    total = tl.sum(powers, axis=0)

    high = total.to(tl.int32, bitcast=True).to(tl.int64) << 32
    low = top.to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    published += row * SLOTS
    tl.atomic_add(published + part, high | low, sem="relaxed")
    slots = tl.arange(0, SLOTS)
    words = tl.zeros((SLOTS,), tl.int64)
    missing = PARTS
    while missing > 0:
        words = tl.load(published + slots, mask=slots < PARTS, other=NOTHING, volatile=True)
        missing = tl.sum((words == 0).to(tl.int32), axis=0)

    tops = (words & 0xFFFFFFFF).to(tl.int32).to(tl.float32, bitcast=True)
    totals = (words >> 32).to(tl.int32).to(tl.float32, bitcast=True)
    highest = tl.max(tops, axis=0)
    whole = tl.sum(totals * tl.exp2((tops - highest) * LOG2E), axis=0)
    result = powers * (tl.exp2((top - highest) * LOG2E) / whole)
    result = result.to(y.dtype.element_ty)
    tl.store(y + row * N + columns, result, mask=inside, cache_modifier=".cs")


def solve(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    stride = x.stride(0)
    unit = math.gcd(N, stride, 16 // x.element_size())
    widths = (stride // unit, N // unit)
    if N > LONGEST_IN_REGISTERS:
        parts = triton.cdiv(N, LONG_BLOCK)
        slots = triton.next_power_of_2(parts)
        published = torch.zeros((M, slots), device=x.device, dtype=torch.int64)
        row_in_parts[(M * parts,)](
            x, y, published, *widths, UNIT=unit, BLOCK=LONG_BLOCK, PARTS=parts, SLOTS=slots,
            num_warps=2,
        )  # fmt: skip
        return y
    block = triton.next_power_of_2(N)
    first, rest, warps = block, 0, WARPS.get(block, 1 if block <= 512 else 2)
    if block > max(N, 64):
        first = block // 2
        rest = max(triton.next_power_of_2(N - first), 32)
        warps = RAGGED_WARPS.get(first, 1 if first <= 512 else 4)
    row_in_registers[(M,)](x, y, *widths, UNIT=unit, FIRST=first, REST=rest, num_warps=warps)
    return y
