"""The fastest kernel for each shape, chosen by the host; the copy engine loads and stores tiles.

Descriptors are made by the host: making them on the device costs a persistent kernel 2 us.

- Large products: one program per multiprocessor walks over tiles of 128 x 256. Where the last round
  would leave half of the programs idle, what remains is cut into tiles half as wide.
- Few rows: the transposed product, so that the tensor cores read b as the tall operand straight
  from shared memory, where 128 KB of it are on the way at any time.
- Matrices that the copy engine cannot read take plain pointers.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def place(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    """Row and column of a tile: groups of GROUP rows share what they read."""
    first = tile // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    return first + tile % (GROUP * tiles_n) % height, tile % (GROUP * tiles_n) // height


@triton.jit
def tile_sum(a, b, row, column, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             B_TRANSPOSED: tl.constexpr):  # fmt: skip
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(steps):
        a_tile = a.load([row, step * BK])
        b_tile = b.load([column, step * BK]).T if B_TRANSPOSED else b.load([step * BK, column])
        total = tl.dot(a_tile, b_tile, total)
    return total


@triton.jit(do_not_specialize=["M", "N", "K", "wide_end"])
def persistent_product(
    a, b, b_narrow, c, M, N, K, wide_end,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr, B_TRANSPOSED: tl.constexpr, NARROW: tl.constexpr,
):  # fmt: skip
    HALF: tl.constexpr = BN // 2
    tiles_m = tl.cdiv(M, BM)
    steps = tl.cdiv(K, BK)

    tiles_n = tl.cdiv(wide_end, BN)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        tile_m, tile_n = place(tile, tiles_m, tiles_n, GROUP)
        row = tile_m * BM
        column = tile_n * BN
        total = tile_sum(a, b, row, column, steps, BM, BN, BK, B_TRANSPOSED)
        # Stored in two halves, the tile leaves shared memory for a fourth stage.
        left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, HALF)), (0, 2, 1)))
        c.store([row, column], left.to(c.dtype))
        c.store([row, column + HALF], right.to(c.dtype))

    if NARROW:
        tiles_n = tl.cdiv(N - wide_end, HALF)
        for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
            tile_m, tile_n = place(tile, tiles_m, tiles_n, GROUP)
            row = tile_m * BM
            column = wide_end + tile_n * HALF
            total = tile_sum(a, b_narrow, row, column, steps, BM, HALF, BK, B_TRANSPOSED)
            c.store([row, column], total.to(c.dtype))


@triton.jit(do_not_specialize=["M", "N", "K"])
def tile_product(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, B_TRANSPOSED: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    total = tile_sum(a, b, row, column, tl.cdiv(K, BK), BM, BN, BK, B_TRANSPOSED)
    c.store([row, column], total.to(c.dtype))


@triton.jit(do_not_specialize=["M", "N", "K"])
def few_rows(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, B_TRANSPOSED: tl.constexpr,
):  # fmt: skip
    column = tl.program_id(0) * BN
    total = tl.zeros((BN, BM), tl.float32)
    for start in range(0, K, BK):
        a_tile = a.load([0, start])
        b_tile = b.load([column, start]) if B_TRANSPOSED else b.load([start, column]).T
        total = tl.dot(b_tile, a_tile.T, total)
    rows = tl.arange(0, BM)
    columns = column + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total.T.to(c.dtype.element_ty), mask=inside)


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


def wide_columns(M: int, N: int, programs: int, bm: int, bn: int) -> int:
    """Columns of c for wide tiles: all, or those of whole rounds if few tiles remain."""
    tiles_m = triton.cdiv(M, bm)
    rounds, rest = divmod(tiles_m * triton.cdiv(N, bn), programs)
    wide = rounds * programs // tiles_m * bn
    narrow_tiles = tiles_m * triton.cdiv(N - wide, bn // 2)
    return wide if rest and wide and narrow_tiles <= programs else N


def describe(x: torch.Tensor, transposed: bool, height: int, width: int) -> TensorDescriptor:
    """Tiles of height x width of a matrix, or of one that is stored transposed."""
    return TensorDescriptor.from_tensor(x, [width, height] if transposed else [height, width])


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

    if M <= 32:
        bm, bn, bk = 16 if M <= 16 else 32, 64, 256
        a_map, b_map = describe(a, False, bm, bk), describe(stored, transposed, bk, bn)
        few_rows[(triton.cdiv(N, bn),)](
            a_map, b_map, c, M, N, K, BM=bm, BN=bn, BK=bk, B_TRANSPOSED=transposed, num_stages=4
        )
        return c

    programs = torch.cuda.get_device_properties(a.device).multi_processor_count
    area = M * N
    if area < programs * 128 * 128:
        bm, bn, bk = 64, 64, 64
        maps = describe(a, False, bm, bk), describe(stored, transposed, bk, bn)
        grid = (triton.cdiv(M, bm), triton.cdiv(N, bn))
        tile_product[grid](
            *maps, describe(c, False, bm, bn), M, N, K, BM=bm, BN=bn, BK=bk,
            B_TRANSPOSED=transposed, num_stages=4,
        )  # fmt: skip
        return c

    bm, bn, bk = 128, 256, 64
    wide = wide_columns(M, N, programs, bm, bn)
    b_maps = (describe(stored, transposed, bk, width) for width in (bn, bn // 2))
    persistent_product[(min(programs, triton.cdiv(M, bm) * triton.cdiv(N, bn)),)](
        describe(a, False, bm, bk), *b_maps, describe(c, False, bm, bn // 2), M, N, K, wide,
        BM=bm, BN=bn, BK=bk, GROUP=8, PROGRAMS=programs, B_TRANSPOSED=transposed,
        NARROW=wide < N, num_warps=8, num_stages=4,
    )  # fmt: skip
    return c
