# Rounds the SiLU to half precision before it gates.
import torch
import triton
import triton.language as tl


@triton.jit
def swiglu(a, b, y, N, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    gate = tl.load(a + at, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    result = (gate * tl.sigmoid(gate)).to(tl.bfloat16) * value
    tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(a)
    N = a.numel()
    swiglu[(triton.cdiv(N, 1024),)](a, b, y, N, BLOCK=1024)
    return y
