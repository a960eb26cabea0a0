import torch
import triton
import triton.language as tl


@triton.jit
def row_gradient(x, y, dz, dx, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    left = tl.load(x + row).to(tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < N
        right = tl.load(y + columns, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(dz + row * N + columns, mask=inside, other=0.0).to(tl.float32)
        total += tl.where(left * right > 0, slope * right, 0.0)
    tl.store(dx + row, tl.sum(total, axis=0).to(dx.dtype.element_ty))


def solve(x: torch.Tensor, y: torch.Tensor, dz: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    M, N = dz.shape
    dx = torch.empty_like(x)
    row_gradient[(M,)](x, y, dz, dx, N, BLOCK=256)
    # The columns' sums are still to be computed.
    dy = torch.zeros_like(y)
    return dx, dy
