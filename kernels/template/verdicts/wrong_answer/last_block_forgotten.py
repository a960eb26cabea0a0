# Launches only the blocks that are full.
import torch
import triton
import triton.language as tl


@triton.jit
def add_one(x, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    result = tl.load(x + at, mask=inside).to(tl.float32) + 1
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    add_one[(max(x.numel() // 1024, 1),)](x, y, x.numel(), BLOCK=1024)
    return y
