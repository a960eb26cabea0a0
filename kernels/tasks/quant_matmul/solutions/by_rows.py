"""One row, up to sixteen rows and more rows each take the kernel that suits them.

- One row: multiply and add in float32; programs share the sums of columns.
- Up to 16 rows: the eight nibbles of a block of words are eight blocks of weights, which the tensor
  cores multiply by the elements of x that belong to them. x is laid out for that first.
- More: unpack the weights to float16, then multiply as usual.

Partial sums are added in a fixed order by a second kernel, so that bits do not change.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def nibble(words, SHIFT: tl.constexpr):
    """A nibble times 2^SHIFT as float32: put into the last bits of 2^23, which is taken off."""
    bits = (words & (15 << SHIFT)) | 0x4B000000
    return bits.to(tl.float32, bitcast=True) - 8388608.0


@triton.jit
def one_row(
    x, qweight, scales, qzeros, parts, K, N, G, WORDS: tl.constexpr, BN: tl.constexpr,
    PARTS: tl.constexpr, GROUP_OF_BLOCK: tl.constexpr,
):  # fmt: skip
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    part = tl.program_id(1)
    count = K // 8
    share = tl.cdiv(count, PARTS * WORDS) * WORDS
    total = tl.zeros((WORDS, BN), tl.float32)
    for start in range(part * share, min((part + 1) * share, count), WORDS):
        words = start + tl.arange(0, WORDS)
        present = words < count
        inside = present[:, None] & (columns[None, :] < N)
        packed = tl.load(qweight + words[:, None] * N + columns[None, :], mask=inside, other=0)
        # Nibbles 5 to 7 do not fit into the 23 bits unless they are shifted.
        shifted = packed >> 12
        sum_x = tl.zeros((WORDS,), tl.float32)
        sum_xq = tl.zeros((WORDS, BN), tl.float32)
        for place in tl.static_range(8):
            value = tl.load(x + words * 8 + place, mask=present, other=0.0).to(tl.float32)
            sum_x += value
            if place < 5:
                q = nibble(packed, 4 * place)
                sum_xq += q * (value * (1.0 / (1 << (4 * place))))[:, None]
            else:
                q = nibble(shifted, 4 * (place - 3))
                sum_xq += q * (value * (1.0 / (1 << (4 * (place - 3)))))[:, None]

        if GROUP_OF_BLOCK:
            group = start * 8 // G
            scale = tl.load(scales + group * N + columns, mask=columns < N, other=0.0)[None, :]
            zeros = tl.load(qzeros + group * (N // 8) + columns // 8, mask=columns < N, other=0)
            z = ((zeros >> (columns % 8 * 4)) & 15)[None, :]
        else:
            group = (words * 8 // G)[:, None]
            scale = tl.load(scales + group * N + columns[None, :], mask=inside, other=0.0)
            zeros = tl.load(qzeros + group * (N // 8) + columns[None, :] // 8, mask=inside, other=0)
            z = (zeros >> (columns % 8 * 4)[None, :]) & 15
        total += (sum_xq - sum_x[:, None] * z.to(tl.float32)) * scale.to(tl.float32)
    tl.store(parts + part * N + columns, tl.sum(total, axis=0), mask=columns < N)


@triton.jit
def some_rows(
    x, qweight, scales, qzeros, parts, M, K, N, G, WORDS: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    rows = tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    part = tl.program_id(1)
    count = K // 8
    share = tl.cdiv(count, PARTS * WORDS) * WORDS
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(part * share, min((part + 1) * share, count), WORDS):
        words = start + tl.arange(0, WORDS)
        inside = columns < N
        packed = tl.load(
            qweight + words[:, None] * N + columns[None, :], mask=inside[None, :], other=0
        )
        group = start * 8 // G
        scale = tl.load(scales + group * N + columns, mask=inside, other=0.0)
        zeros = tl.load(qzeros + group * (N // 8) + columns // 8, mask=inside, other=0)
        # A nibble in the last bits of 1024 is 1024 plus the nibble.
        z = (((zeros >> (columns % 8 * 4)) & 15) + 1024).to(tl.float16)
        sums = tl.zeros((BM, BN), tl.float32)
        for place in tl.static_range(8):
            bits = ((packed >> (4 * place)) & 15) | 0x6400
            q = bits.to(tl.int16).to(tl.float16, bitcast=True) - z[None, :]
            values = tl.load(
                x + (rows[:, None] * 8 + place) * count + words[None, :],
                mask=rows[:, None] < M,
                other=0.0,
            )
            sums = tl.dot(values, q, sums)
        total += sums * scale.to(tl.float32)[None, :]
    tl.store(
        parts + (part * M + rows[:, None]) * N + columns[None, :],
        total,
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


@triton.jit
def add_parts(parts, y, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(parts + part * count + places, mask=places < count, other=0.0)
    tl.store(y + places, total.to(y.dtype.element_ty), mask=places < count)


@triton.jit
def unpack(qweight, scales, qzeros, weights, K, N, G, WORDS: tl.constexpr, BN: tl.constexpr):
    columns = (tl.program_id(0) * BN + tl.arange(0, BN))[None, :]
    words = (tl.program_id(1) * WORDS + tl.arange(0, WORDS))[:, None]
    inside = (words < K // 8) & (columns < N)
    group = words * 8 // G
    packed = tl.load(qweight + words * N + columns, mask=inside, other=0)
    scale = tl.load(scales + group * N + columns, mask=inside, other=0.0)
    zeros = tl.load(qzeros + group * (N // 8) + columns // 8, mask=inside, other=0)
    z = (zeros >> (columns % 8 * 4)) & 15
    for place in tl.static_range(8):
        q = ((packed >> (4 * place)) & 15) - z
        tl.store(weights + (words * 8 + place) * N + columns, q.to(tl.float16) * scale, mask=inside)


@triton.jit(do_not_specialize=["M", "N", "K"])
def product(
    x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
):  # fmt: skip
    HALF: tl.constexpr = BN // 2
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        first = tile // (GROUP * tiles_n) * GROUP
        height = min(tiles_m - first, GROUP)
        row = (first + tile % (GROUP * tiles_n) % height) * BM
        column = tile % (GROUP * tiles_n) // height * BN
        total = tl.zeros((BM, BN), tl.float32)
        for step in range(steps):
            total = tl.dot(x.load([row, step * BK]), w.load([step * BK, column]), total)
        left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, HALF)), (0, 2, 1)))
        y.store([row, column], left.to(y.dtype))
        y.store([row, column + HALF], right.to(y.dtype))


def added(parts: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """y, with the sum of the parts in it."""
    count = y.numel()
    grid = (triton.cdiv(count, 256),)
    add_parts[grid](parts, y, count, PARTS=parts.shape[0], BLOCK=256, num_warps=2)
    return y


def unpacked(qweight: torch.Tensor, scales: torch.Tensor, qzeros: torch.Tensor) -> torch.Tensor:
    """The weights in float16."""
    K, N = qweight.shape[0] * 8, qweight.shape[1]
    weights = torch.empty((K, N), device=qweight.device, dtype=torch.float16)
    grid = (triton.cdiv(N, 512), triton.cdiv(K // 8, 4))
    group = K // scales.shape[0]
    unpack[grid](qweight, scales, qzeros, weights, K, N, group, WORDS=4, BN=512, num_warps=8)
    return weights


def multiplied(x: torch.Tensor, weights: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """y, with the product in it, by one program per multiprocessor."""
    (M, K), N = x.shape, weights.shape[1]
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    large = programs * 128 * 128 <= y.numel()
    bm, bn, warps, stages = (128, 256, 8, 4) if large else (64, 64, 4, 3)
    tiles = triton.cdiv(M, bm) * triton.cdiv(N, bn)
    product[(min(programs, tiles),)](
        TensorDescriptor.from_tensor(x, [bm, 64]),
        TensorDescriptor.from_tensor(weights, [64, bn]),
        TensorDescriptor.from_tensor(y, [bm, bn // 2]),
        M, N, K, BM=bm, BN=bn, BK=64, GROUP=8, PROGRAMS=programs,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return y


def solve(
    x: torch.Tensor, qweight: torch.Tensor, scales: torch.Tensor, qzeros: torch.Tensor
) -> torch.Tensor:
    M, K = x.shape
    N = qweight.shape[1]
    G = K // scales.shape[0]
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    if M == 1:
        parts = torch.empty((16, 1, N), device=x.device, dtype=torch.float32)
        whole_group = G % 128 == 0
        width = 256 if whole_group else 128
        one_row[(triton.cdiv(N, width), 16)](
            x, qweight, scales, qzeros, parts, K, N, G, WORDS=16, BN=width, PARTS=16,
            GROUP_OF_BLOCK=whole_group,
        )  # fmt: skip
        return added(parts, y)
    if M <= 16 and G % 128 == 0:
        parts = torch.empty((8, M, N), device=x.device, dtype=torch.float32)
        # Row m, nibble i, word r: what one block of weights meets is adjacent.
        arranged = x.view(M, K // 8, 8).transpose(1, 2).contiguous()
        some_rows[(triton.cdiv(N, 256), 8)](
            arranged, qweight, scales, qzeros, parts, M, K, N, G, WORDS=16, BM=16, BN=256, PARTS=8,
            num_stages=4,
        )  # fmt: skip
        return added(parts, y)
    return multiplied(x, unpacked(qweight, scales, qzeros), y)
