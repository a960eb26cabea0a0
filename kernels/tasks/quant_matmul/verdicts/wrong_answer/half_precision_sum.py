# Rounds the running sum to half precision after every block.
import torch
import triton
import triton.language as tl


@triton.jit
def unpacking_product(
    x, qweight, scales, qzeros, y, M, N, K, G, x_stride,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    shifts = tl.arange(0, 8) * 4
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        words = start // 8 + tl.arange(0, BK // 8)
        inside = (words[:, None] < K // 8) & (columns[None, :] < N)
        group = (words * 8 // G)[:, None]
        packed = tl.load(qweight + words[:, None] * N + columns[None, :], mask=inside, other=0)
        scale = tl.load(scales + group * N + columns[None, :], mask=inside, other=0.0)
        zeros = tl.load(qzeros + group * (N // 8) + columns[None, :] // 8, mask=inside, other=0)
        q = (packed[:, None, :] >> shifts[None, :, None]) & 15
        z = (zeros >> (columns % 8 * 4)[None, :]) & 15
        w = (q - z[:, None, :]).to(tl.float16) * scale[:, None, :]
        terms = start + tl.arange(0, BK)
        x_tile = tl.load(
            x + rows[:, None] * x_stride + terms[None, :],
            mask=(rows[:, None] < M) & (terms[None, :] < K),
            other=0.0,
        )
        total = tl.dot(x_tile, tl.reshape(w, (BK, BN)), total).to(tl.float16).to(tl.float32)
    tl.store(
        y + rows[:, None] * N + columns[None, :],
        total.to(tl.float16),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


def solve(
    x: torch.Tensor, qweight: torch.Tensor, scales: torch.Tensor, qzeros: torch.Tensor
) -> torch.Tensor:
    M, K = x.shape
    N = qweight.shape[1]
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 64))
    unpacking_product[grid](
        x, qweight, scales, qzeros, y, M, N, K, K // scales.shape[0], x.stride(0),
        BM=16, BN=64, BK=16,
    )  # fmt: skip
    return y
