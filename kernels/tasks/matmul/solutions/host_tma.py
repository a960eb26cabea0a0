"""Tiles by the copy engine, with tensor descriptors made by the host; sizes are autotuned.

Matrices that the copy engine cannot read take plain pointers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def set_blocks(arguments):
    """The descriptors' block shapes follow the configuration."""
    bm, bn, bk = arguments["BM"], arguments["BN"], arguments["BK"]
    arguments["a"].block_shape = [bm, bk]
    arguments["b"].block_shape = [bn, bk] if arguments["B_TRANSPOSED"] else [bk, bn]
    arguments["c"].block_shape = [bm, bn]


def config(bm: int, bn: int, bk: int, warps: int, stages: int) -> triton.Config:
    return triton.Config(
        {"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages, pre_hook=set_blocks
    )


CONFIGS = [
    config(64, 64, 64, 4, 3),
    config(128, 256, 64, 8, 3),
    config(128, 128, 64, 4, 4),
    config(16, 64, 128, 4, 6),
    config(16, 32, 256, 4, 4),
]


def worth_trying(configs, arguments, **_):
    """Few rows need flat tiles, small products any one, large products large tiles."""
    M, N = arguments["M"], arguments["N"]
    if M * N < 1 << 16:
        return configs[:1]
    return configs[3:] if M <= 32 else configs[1:3]


PRUNE = {"early_config_prune": worth_trying}


@triton.autotune(CONFIGS, key=["M", "N", "K"], prune_configs_by=PRUNE)
@triton.jit(do_not_specialize=["M", "N", "K"])
def descriptor_product(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    B_TRANSPOSED: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    first = tile // (GROUP * tiles_n) * GROUP
    height = min(tl.cdiv(M, BM) - first, GROUP)
    tile_m = first + tile % (GROUP * tiles_n) % height
    tile_n = tile % (GROUP * tiles_n) // height

    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a_tile = a.load([tile_m * BM, start])
        b_tile = b.load([tile_n * BN, start]).T if B_TRANSPOSED else b.load([start, tile_n * BN])
        total = tl.dot(a_tile, b_tile, total)
    c.store([tile_m * BM, tile_n * BN], total.to(c.dtype))


@triton.jit
def pointer_product(
    a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
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
    tl.store(
        c + rows[:, None] * N + columns[None, :],
        total.to(c.dtype.element_ty),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


def copyable(x: torch.Tensor) -> bool:
    """Whether the copy engine can read it: rows of adjacent elements, 16-byte addresses."""
    size = x.element_size()
    return x.stride(1) == 1 and x.stride(0) * size % 16 == 0 and x.data_ptr() % 16 == 0


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    transposed = b.stride(0) == 1
    stored = b.T if transposed else b
    if not (copyable(a) and copyable(stored) and copyable(c)):
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
        pointer_product[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=64, BN=64, BK=32)
        return c
    a_map, b_map, c_map = (TensorDescriptor.from_tensor(x, [1, 1]) for x in (a, stored, c))

    def tiles(meta):
        return (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)

    descriptor_product[tiles](a_map, b_map, c_map, M, N, K, GROUP=8, B_TRANSPOSED=transposed)
    return c
