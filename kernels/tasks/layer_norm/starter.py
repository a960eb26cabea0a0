import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm(x, w, b, y, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * stride
    y += row * N
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + columns, mask=columns < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    # The variance is still to be computed.
    variance = 1.0
    scale = tl.rsqrt(variance + eps)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < N
        value = tl.load(x + columns, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w + columns, mask=inside, other=0.0).to(tl.float32)
        bias = tl.load(b + columns, mask=inside, other=0.0).to(tl.float32)
        result = (value - mean) * scale * weight + bias
        tl.store(y + columns, result.to(y.dtype.element_ty), mask=inside)


def solve(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    layer_norm[(M,)](x, w, b, y, x.stride(0), N, eps, BLOCK=1024)
    return y
