# Rounds the normalised row to half precision before the weights.
import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, w, y, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * stride
    y += row * N
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        value = tl.load(x + columns, mask=columns < N, other=0.0).to(tl.float32)
        total += value * value
    scale = tl.rsqrt(tl.sum(total, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < N
        value = tl.load(x + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
        value = (value * scale).to(tl.bfloat16)
        tl.store(y + columns, (value * weight).to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    rms_norm[(M,)](x, w, y, x.stride(0), N, eps, BLOCK=1024)
    return y
