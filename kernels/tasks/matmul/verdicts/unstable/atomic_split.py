# Eight programs add to one tile in whatever order they come: the last bits change.
# needs: gpu
import torch
import triton
import triton.language as tl


@triton.jit
def tile_product(
    a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(tl.program_id(2) * BK, K, tl.num_programs(2) * BK):
        terms = start + tl.arange(0, BK)
        a_tile = tl.load(
            a + rows[:, None] * am + terms[None, :] * ak,
            mask=(rows[:, None] < M) & (terms[None, :] < K),
            other=0.0,
        )
        b_tile = tl.load(
            b + terms[:, None] * bk + columns[None, :] * bn,
            mask=(terms[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a_tile, b_tile, total)
    place = c + rows[:, None] * N + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.atomic_add(place, total, mask=inside)


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    M, K = a.shape
    N = b.shape[1]
    c = torch.zeros((M, N), device=a.device, dtype=torch.float32)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), 8)
    tile_product[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=32)
    return c.to(a.dtype)
