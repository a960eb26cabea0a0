"""Programs that stay walk over the tiles of all products; the copy engine moves them.

Descriptors have three dimensions, so that a tile at the border ends with its matrix. Storing a tile
in two halves needs less shared memory, which leaves room for two programs on a multiprocessor.
Matrices that the copy engine cannot read take plain pointers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def set_blocks(arguments):
    """The descriptors' block shapes follow the configuration."""
    bm, bn, bk = arguments["BM"], arguments["BN"], arguments["BK"]
    arguments["a"].block_shape = [1, bm, bk]
    arguments["b"].block_shape = [1, bn, bk] if arguments["B_TRANSPOSED"] else [1, bk, bn]
    arguments["c"].block_shape = [1, bm, bn // 2 if arguments["HALVES"] else bn]


def config(bm, bn, halves, resident, warps, stages):
    """A tile size, how it is stored, and how many programs share a multiprocessor."""
    sizes = {"BM": bm, "BN": bn, "BK": 64, "HALVES": halves, "RESIDENT": resident}
    return triton.Config(sizes, num_warps=warps, num_stages=stages, pre_hook=set_blocks)


CONFIGS = [
    config(128, 128, False, 2, 4, 2),
    config(128, 128, True, 2, 4, 3),
    config(128, 256, True, 1, 8, 4),
]


def worth_trying(configs, arguments, **_):
    """Products of one tile need no larger one; small ones need not be tuned."""
    M, N = arguments["M"], arguments["N"]
    return configs[:1] if M <= 128 or N <= 128 else configs[1:]


PRUNE = {"early_config_prune": worth_trying}


@triton.autotune(CONFIGS, key=["M", "N", "K"], prune_configs_by=PRUNE)
@triton.jit(do_not_specialize=["B", "M", "N", "K"])
def persistent_products(
    a, b, c, B, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HALVES: tl.constexpr,
    RESIDENT: tl.constexpr, GROUP: tl.constexpr, PROCESSORS: tl.constexpr,
    B_TRANSPOSED: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    each = tiles_m * tiles_n
    steps = tl.cdiv(K, BK)
    for place in tl.range(tl.program_id(0), B * each, PROCESSORS * RESIDENT, flatten=True):
        number = place // each
        tile = place % each
        first = tile // (GROUP * tiles_n) * GROUP
        height = min(tiles_m - first, GROUP)
        row = (first + tile % (GROUP * tiles_n) % height) * BM
        column = tile % (GROUP * tiles_n) // height * BN

        total = tl.zeros((BM, BN), tl.float32)
        for step in range(steps):
            a_tile = a.load([number, row, step * BK]).reshape(BM, BK)
            if B_TRANSPOSED:
                b_tile = b.load([number, column, step * BK]).reshape(BN, BK).T
            else:
                b_tile = b.load([number, step * BK, column]).reshape(BK, BN)
            total = tl.dot(a_tile, b_tile, total)

        if HALVES:
            HALF: tl.constexpr = BN // 2
            left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, HALF)), (0, 2, 1)))
            c.store([number, row, column], left.to(c.dtype).reshape(1, BM, HALF))
            c.store([number, row, column + HALF], right.to(c.dtype).reshape(1, BM, HALF))
        else:
            c.store([number, row, column], total.to(c.dtype).reshape(1, BM, BN))


@triton.jit
def pointer_product(
    a, b, c, M, N, K, an, am, ak, bn, bk, bj,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(2).to(tl.int64)
    a += number * an
    b += number * bn
    c += number * M * N
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
            b + terms[:, None] * bk + columns[None, :] * bj,
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
    steps = (x.stride(0) * x.element_size(), x.stride(1) * x.element_size(), x.data_ptr())
    return x.stride(2) == 1 and all(step % 16 == 0 for step in steps)


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    B, M, K = a.shape
    N = b.shape[2]
    c = torch.empty((B, M, N), device=a.device, dtype=a.dtype)
    transposed = b.stride(1) == 1
    stored = b.mT if transposed else b
    if not (copyable(a) and copyable(stored) and copyable(c)):
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), B)
        strides = (*a.stride(), *b.stride())
        pointer_product[grid](a, b, c, M, N, K, *strides, BM=64, BN=64, BK=32)
        return c
    processors = torch.cuda.get_device_properties(a.device).multi_processor_count
    maps = (TensorDescriptor.from_tensor(x, [1, 1, 1]) for x in (a, stored, c))

    def programs(meta):
        tiles = B * triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"])
        return (min(processors * meta["RESIDENT"], tiles),)

    persistent_products[programs](
        *maps, B, M, N, K, GROUP=8, PROCESSORS=processors, B_TRANSPOSED=transposed
    )
    return c
