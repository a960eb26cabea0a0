# Stops before the last block unless it is full.
import torch
import triton
import triton.language as tl


@triton.jit
def row_sum(x, y, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N - BLOCK + 1, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * stride + columns, mask=columns < N, other=0.0)
        total += value.to(tl.float32)
    tl.store(y + row, tl.sum(total, axis=0))


def solve(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty(M, device=x.device, dtype=torch.float32)
    row_sum[(M,)](x, y, x.stride(0), N, BLOCK=1024)
    return y
