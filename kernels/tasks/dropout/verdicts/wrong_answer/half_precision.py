# Rounds what is kept to half precision: too little for float32.
import torch
import triton
import triton.language as tl


@triton.jit
def dropout(x, y, p, scale, seed, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    random = tl.rand(seed, at)
    result = tl.where(random >= p, (value * scale).to(tl.float16).to(tl.float32), 0.0)
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    y = torch.empty_like(x)
    scale = 1.0 / (1.0 - p) if p < 1 else 0.0
    dropout[(triton.cdiv(x.numel(), 1024),)](x, y, p, scale, seed, x.numel(), BLOCK=1024)
    return y
