import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(x + row * stride + columns, mask=inside, other=0.0)
    # Replace the next line: the result of every row must sum to 1.
    result = values
    tl.store(y + row * N + columns, result, mask=inside)


def solve(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    block = triton.next_power_of_2(N)
    softmax_kernel[(M,)](x, y, x.stride(0), N, BLOCK=block, num_warps=4 if block <= 4096 else 16)
    return y
