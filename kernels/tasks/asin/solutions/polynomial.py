"""A polynomial instead of the library, with fewer instructions."""

import torch
import triton
import triton.language as tl


@triton.jit
def arcsine(x):
    """By a polynomial up to 1/2, and asin x = pi/2 - 2 asin sqrt((1 - x) / 2) beyond."""
    size = tl.abs(x)
    large = size > 0.5
    square = tl.where(large, 0.5 - 0.5 * size, size * size)
    root = tl.where(large, tl.sqrt(square), size)
    poly = 4.2163199048e-2 * square + 2.4181311049e-2
    poly = poly * square + 4.5470025998e-2
    poly = poly * square + 7.4953002686e-2
    poly = poly * square + 1.6666752422e-1
    small = root + root * square * poly
    result = tl.where(large, 1.5707963267948966 - 2.0 * small, small)
    return tl.where(x < 0, -result, result)


@triton.jit
def asin(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    result = tl.where(tl.abs(value) <= 1, arcsine(value), float("nan"))
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    asin[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
