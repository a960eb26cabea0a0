import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        terms = start + tl.arange(0, BK)
        a_tile = tl.load(
            a + rows[:, None] * stride + terms[None, :],
            mask=(rows[:, None] < M) & (terms[None, :] < K),
            other=0.0,
        )
        b_tile = tl.load(
            b + terms[:, None] * N + columns[None, :],
            mask=(terms[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a_tile, b_tile, total)
    place = c + rows[:, None] * N + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(place, total.to(c.dtype.element_ty), mask=inside)


def solve(a: list[torch.Tensor], b: list[torch.Tensor]) -> list[torch.Tensor]:
    c = [x.new_empty((x.shape[0], y.shape[1])) for x, y in zip(a, b, strict=True)]
    for x, y, z in zip(a, b, c, strict=True):
        M, N = z.shape
        # Empty groups need no launch; the others need all their columns.
        if M:
            grid = (1, triton.cdiv(M, 64))
            product[grid](x, y, z, M, N, x.shape[1], x.stride(0), BM=64, BN=64, BK=32)
    return c
