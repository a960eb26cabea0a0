"""Pieces of rows whose lanes keep maxima and sums of their own, read back from the end.

- No lane waits for another before its piece ends, and eight numbers share the power by which a
  lane's sum shrinks.
- All pieces are under way together, so what was read last is the end of each: the second reading
  begins there and finds it in the cache. The result passes the cache by.
"""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056
"""Eight for each of an H200's 132 multiprocessors."""
UNIT = 8


@triton.jit
def piece(x, tops, totals, stride, N, pieces, length, LANES: tl.constexpr, UNIT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) // pieces
    first = (tl.program_id(0) % pieces).to(tl.int64) * length
    end = tl.minimum(first + length, N)
    x += row * stride
    block = tl.arange(0, LANES)[:, None] * UNIT + tl.arange(0, UNIT)[None, :]
    top = tl.full((LANES,), -1e30, tl.float32)
    total = tl.zeros((LANES,), tl.float32)
    for start in range(first, end, LANES * UNIT):
        columns = start + block
        value = tl.load(x + columns, mask=columns < end, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(value, axis=1))
        powers = tl.exp(value - higher[:, None])
        total = total * tl.exp(top - higher) + tl.sum(powers, axis=1)
        top = higher
    highest = tl.max(top, axis=0)
    tl.store(tops + tl.program_id(0), highest)
    tl.store(totals + tl.program_id(0), tl.sum(total * tl.exp(top - highest), axis=0))


@triton.jit
def scaled(x, y, tops, totals, stride, N, pieces, length, BLOCK: tl.constexpr, MOST: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) // pieces
    at = tl.arange(0, MOST)
    top = tl.load(tops + row * pieces + at, mask=at < pieces, other=float("-inf"))
    total = tl.load(totals + row * pieces + at, mask=at < pieces, other=0.0)
    highest = tl.max(top, axis=0)
    scale = 1.0 / tl.sum(total * tl.exp(top - highest), axis=0)
    first = (tl.program_id(0) % pieces).to(tl.int64) * length
    end = tl.minimum(first + length, N)
    x += row * stride
    y += row * N
    for back in range(0, length, BLOCK):
        columns = first + (length - BLOCK - back) + tl.arange(0, BLOCK)
        inside = columns < end
        value = tl.load(x + columns, mask=inside, other=0.0, eviction_policy="evict_first")
        result = tl.exp(value.to(tl.float32) - highest) * scale
        tl.store(
            y + columns, result.to(y.dtype.element_ty), mask=inside, eviction_policy="evict_first"
        )


def solve(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    block = 4096
    length = triton.cdiv(triton.cdiv(N, max(1, PROGRAMS // M)), block) * block
    pieces = triton.cdiv(N, length)
    tops = torch.empty(M * pieces, device=x.device, dtype=torch.float32)
    totals = torch.empty_like(tops)
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    grid, sizes = (M * pieces,), (x.stride(0), N, pieces, length)
    piece[grid](x, tops, totals, *sizes, LANES=block // UNIT, UNIT=UNIT, num_warps=8)
    most = triton.next_power_of_2(pieces)
    scaled[grid](x, y, tops, totals, *sizes, BLOCK=block, MOST=most, num_warps=8)
    return y
