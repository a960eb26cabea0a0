import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


def solve(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
