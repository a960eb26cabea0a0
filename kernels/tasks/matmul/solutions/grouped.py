"""Tiles by plain pointers, in groups of rows that share what they read; sizes are autotuned."""

import torch
import triton
import triton.language as tl


def config(bm: int, bn: int, bk: int, warps: int, stages: int) -> triton.Config:
    return triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)


CONFIGS = [
    config(64, 64, 32, 4, 3),
    config(128, 256, 64, 8, 3),
    config(128, 128, 64, 4, 4),
    config(16, 64, 128, 4, 4),
    config(16, 32, 256, 4, 4),
]


def worth_trying(configs, arguments, **_):
    """Few rows need flat tiles, small or ragged products small ones, the others large ones."""
    M, N, K = arguments["M"], arguments["N"], arguments["K"]
    if M * N < 1 << 17 or N % 16 or K % 16 or arguments["ak"] != 1:
        return configs[:1]
    return configs[3:] if M <= 32 else configs[1:3]


PRUNE = {"early_config_prune": worth_trying}


@triton.autotune(CONFIGS, key=["M", "N", "K"], prune_configs_by=PRUNE)
@triton.jit
def grouped_product(
    a, b, c, M, N, K, am, ak, bk, bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    first = tile // (GROUP * tiles_n) * GROUP
    height = min(tl.cdiv(M, BM) - first, GROUP)
    tile_m = first + tile % (GROUP * tiles_n) % height
    tile_n = tile % (GROUP * tiles_n) // height

    # Rows and columns past the end wrap around: what they give is not stored.
    rows = (tile_m * BM + tl.arange(0, BM)) % M
    columns = (tile_n * BN + tl.arange(0, BN)) % N
    terms = tl.arange(0, BK)
    a_place = a + rows[:, None] * am + terms[None, :] * ak
    b_place = b + terms[:, None] * bk + columns[None, :] * bn
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a_tile = tl.load(a_place, mask=terms[None, :] < K - start, other=0.0)
        b_tile = tl.load(b_place, mask=terms[:, None] < K - start, other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a_place += BK * ak
        b_place += BK * bk

    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    tl.store(
        c + rows[:, None] * N + columns[None, :],
        total.to(c.dtype.element_ty),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)

    def grid(meta):
        return (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)

    grouped_product[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), GROUP=8)
    return c
