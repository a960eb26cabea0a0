"""The same by the copy engine, with descriptors made in the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def with_descriptors(
    pointers,
    sizes,
    groups,
    N,
    K,
    PROGRAMS,
    DTYPE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        M = tl.load(sizes + group * 2)
        down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
        end = first + down * across
        if tile < end:
            stride = tl.load(sizes + group * 2 + 1)
            a = tl.load(pointers + group * 3).to(tl.pointer_type(DTYPE))
            b = tl.load(pointers + group * 3 + 1).to(tl.pointer_type(DTYPE))
            c = tl.load(pointers + group * 3 + 2).to(tl.pointer_type(DTYPE))
            a_tiles = tl.make_tensor_descriptor(a, [M, K], [stride, 1], [BM, BK])
            b_tiles = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
            c_tiles = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
            while tile < end:
                # Down first: neighbours share columns of b, which are the larger part.
                row = (tile - first) % down * BM
                column = (tile - first) // down * BN
                total = tl.zeros((BM, BN), tl.float32)
                for start in range(0, K, BK):
                    a_tile = a_tiles.load([row, start])
                    b_tile = b_tiles.load([start, column])
                    total = tl.dot(a_tile, b_tile, total)
                c_tiles.store([row, column], total.to(DTYPE))
                tile += PROGRAMS
        first = end


def scratch(size: int, align: int, stream: int | None) -> torch.Tensor:
    return torch.empty(size, device="cuda", dtype=torch.int8)


def solve(a: list[torch.Tensor], b: list[torch.Tensor]) -> list[torch.Tensor]:
    c = [x.new_empty((x.shape[0], y.shape[1])) for x, y in zip(a, b, strict=True)]
    groups = [group for group in zip(a, b, c, strict=True) if group[0].shape[0]]
    if not groups:
        return c
    pointers = [[tensor.data_ptr() for tensor in group] for group in groups]
    sizes = [[z.shape[0], x.stride(0)] for x, _, z in groups]
    pointers = torch.tensor(pointers, device=a[0].device, dtype=torch.int64)
    sizes = torch.tensor(sizes, device=a[0].device, dtype=torch.int32)
    K, N = b[0].shape
    rows = sum(z.shape[0] for z in c) / len(groups)
    tall, wide, deep, warps = (128, 256, 64, 8) if rows > 64 else (64, 128, 128, 4)
    dtype = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}[a[0].dtype]
    triton.set_allocator(scratch)
    programs = 132
    with_descriptors[(programs,)](
        pointers,
        sizes,
        len(groups),
        N,
        K,
        programs,
        DTYPE=dtype,
        BM=tall,
        BN=wide,
        BK=deep,
        num_warps=warps,
        num_stages=3,
    )
    return c
