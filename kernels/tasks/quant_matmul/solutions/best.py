"""Up to sixteen rows by the tensor cores, with weights that go straight from memory to them.

For few rows the kernel is in Gluon, where one says which thread holds what. Each thread loads the
four words of a row that hold its columns' weights for a product of 16 terms: the nibbles i and
i + 4 of a word are two neighbouring terms, and a shift, a mask and a subtraction make both. Nothing
is exchanged between threads, and nothing goes through shared memory. x has its terms in the order
that this asks for.

Programs share the sums of columns; a second kernel adds their parts in a fixed order. With more
rows the weights are unpacked once and multiplied as usual.
"""

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2
from triton.tools.tensor_descriptor import TensorDescriptor

PARTS = 8
WORTH_IT = 1 << 20
"""Weights below which any kernel will do."""


@gluon.jit
def nibbles(words, zeros):
    """Two float16 of each word: the nibbles in bits 6 to 9 and 22 to 25, less the zeros.

    As the highest four bits of the fraction of 16.0 a nibble makes it 16 plus the nibble; a zero,
    made likewise, takes the 16 away again.
    """
    words, zeros = gl.broadcast(words, zeros)
    return gl.inline_asm_elementwise(
        """{ .reg .b32 both;
        lop3.b32 both, $2, 0x03C003C0, 0x4C004C00, 0xEA;
        sub.rn.f16x2 both, both, $3;
        mov.b32 {$0, $1}, both; }""",
        "=h,=h,r,r", [words, zeros], (gl.float16, gl.float16), is_pure=True, pack=1,
    )  # fmt: skip


@gluon.jit
def few_rows(
    x, qweight, scales, qzeros, sums, M, N, K, G, x_stride, SPLIT: gl.constexpr, WORDS: gl.constexpr
):
    BN: gl.constexpr = 128
    mma: gl.constexpr = gl.NVMMADistributedLayout(
        version=[2, 0], warps_per_cta=[1, 4], instr_shape=[16, 8]
    )
    # What each bit of register, lane and warp numbers stands for, as steps in each dimension.
    word_layout: gl.constexpr = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [4, 0], [8, 0]], [[1, 0], [2, 0], [0, 4], [0, 8], [0, 16]],
        [[0, 32], [0, 64]], [], [WORDS, BN],
    )  # fmt: skip
    x_layout: gl.constexpr = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [0, 4], [0, 32], [0, 64], [8, 0]],
        [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], [[0, 0], [0, 0]], [], [16, 8 * WORDS],
    )  # fmt: skip
    scale_layout: gl.constexpr = gl.DistributedLinearLayout(
        [[1], [2], [4]], [[8], [16], [0], [0], [0]], [[32], [64]], [], [BN]
    )
    y_layout: gl.constexpr = gl.DistributedLinearLayout(
        [[0, 1], [0, 2], [0, 4], [8, 0]], [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]],
        [[0, 32], [0, 64]], [], [16, BN],
    )  # fmt: skip

    first_column = gl.program_id(0) * BN
    part = gl.program_id(1)
    count = K // 8
    share = (count + SPLIT * WORDS - 1) // (SPLIT * WORDS) * WORDS
    begin = part * share
    end = gl.minimum(begin + share, count)

    words = gl.arange(0, WORDS, layout=gl.SliceLayout(1, word_layout))
    columns = first_column + gl.arange(0, BN, layout=gl.SliceLayout(0, word_layout))
    inside = columns < N
    q_place = qweight + words[:, None] * N + columns[None, :]
    z_place = qzeros + columns // 8
    z_shift = columns % 8 * 4
    s_columns = first_column + gl.arange(0, BN, layout=scale_layout)
    s_place = scales + s_columns
    rows = gl.arange(0, 16, layout=gl.SliceLayout(1, x_layout))[:, None]
    terms = gl.arange(0, 8 * WORDS, layout=gl.SliceLayout(0, x_layout))[None, :]
    x_place = x + rows * x_stride + terms
    x_inside = rows < M

    # Everything is loaded one step ahead. A step is one group, or a part of one.
    some = begin < end
    group = begin * 8 // G
    q = gl.load(q_place + begin * N, mask=some, other=0)
    values = gl.load(x_place + begin * 8, mask=x_inside & some, other=0.0)
    scale = gl.load(s_place + group * N, mask=some, other=0.0)
    zeros = gl.load(z_place + group * (N // 8), mask=some, other=0)
    total = gl.zeros([16, BN], gl.float32, mma)
    for start in range(begin, end, WORDS):
        ahead = start + WORDS
        more = ahead < end
        group = ahead * 8 // G
        q_ahead = gl.load(q_place + ahead * N, mask=more, other=0)
        values_ahead = gl.load(x_place + ahead * 8, mask=x_inside & more, other=0.0)
        scale_ahead = gl.load(s_place + group * N, mask=more, other=0.0)
        # All columns are inside; where the compiler does not know, it takes 122 registers, not 128.
        zeros_ahead = gl.load(z_place + group * (N // 8), mask=inside & more, other=0)
        z = (((((zeros >> z_shift) & 15) << 6) | 0x4C00) * 0x10001)[None, :]
        even, odd = gl.split(values.reshape([16, WORDS, 2, 2, 2]))
        x_0, x_2 = gl.split(even)
        x_1, x_3 = gl.split(odd)
        x_parts = (x_0, x_1, x_2, x_3)
        group_sum = gl.zeros([16, BN], gl.float32, mma)
        for i in gl.static_range(4):
            moved = q << (6 - 4 * i) if i < 2 else q >> (4 * i - 6)
            low, high = nibbles(moved, z)
            w = gl.join(low, high).permute([0, 2, 1]).reshape([2 * WORDS, 4, 8, 4])
            # A thread's four neighbouring columns belong to four products.
            w = w.permute([0, 3, 1, 2]).reshape([2 * WORDS, BN])
            a = gl.convert_layout(
                x_parts[i].reshape([16, 2 * WORDS]), gl.DotOperandLayout(0, mma, 2)
            )
            b = gl.convert_layout(w, gl.DotOperandLayout(1, mma, 2))
            group_sum = mma_v2(a, b, group_sum)
        factor = scale.to(gl.float32).reshape([4, 8, 4]).permute([2, 0, 1]).reshape([BN])
        total += group_sum * gl.convert_layout(factor, gl.SliceLayout(0, mma))[None, :]
        q, values, scale, zeros = q_ahead, values_ahead, scale_ahead, zeros_ahead

    y = total.reshape([16, 4, 4, 8]).permute([0, 2, 3, 1]).reshape([16, BN])
    y = gl.convert_layout(y, y_layout)
    m = gl.arange(0, 16, layout=gl.SliceLayout(1, y_layout))[:, None]
    n = first_column + gl.arange(0, BN, layout=gl.SliceLayout(0, y_layout))[None, :]
    gl.store(sums + (part * M + m) * N + n, y, mask=m < M)


@triton.jit
def add_parts(sums, y, count, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for part in tl.static_range(SPLIT):
        total += tl.load(sums + part * count + places, mask=places < count, other=0.0)
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
    if M > 16 or G % 128 or N % 128 or WORTH_IT > K * N:
        return multiplied(x, unpacked(qweight, scales, qzeros), y)
    sums = torch.empty((PARTS, M, N), device=x.device, dtype=torch.float32)
    few_rows[(N // 128, PARTS)](
        x, qweight, scales, qzeros, sums, M, N, K, G, x.stride(0), SPLIT=PARTS, WORDS=16,
        num_warps=4, maxnreg=128,
    )  # fmt: skip
    add_parts[(triton.cdiv(M * N, 256),)](sums, y, M * N, SPLIT=PARTS, BLOCK=256, num_warps=2)
    return y
