"""Flash attention with host descriptors whose blocks a pre-hook sets, tuned over twelve."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def set_blocks(arguments):
    head = arguments["HEAD"]
    arguments["q"].block_shape = [arguments["BLOCK_M"], head]
    arguments["o"].block_shape = [arguments["BLOCK_M"], head]
    arguments["k"].block_shape = [arguments["BLOCK_N"], head]
    arguments["v"].block_shape = [arguments["BLOCK_N"], head]


CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_stages=s, num_warps=w, pre_hook=set_blocks)
    for m in (64, 128)
    for n in (32, 64, 128)
    for s, w in ((2, 4), (3, 8))
]


@triton.autotune(configs=CONFIGS, key=["length"])
@triton.jit
def attend(q, k, v, o, length, scale, HEAD: tl.constexpr, BLOCK_M: tl.constexpr,
           BLOCK_N: tl.constexpr):  # fmt: skip
    start = tl.program_id(1) * length + tl.program_id(0) * BLOCK_M
    queries = q.load([start, 0])
    best = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    result = tl.zeros((BLOCK_M, HEAD), tl.float32)
    for position in tl.range(0, length, BLOCK_N):
        keys = k.load([tl.program_id(1) * length + position, 0])
        scores = tl.dot(queries, keys.T) * scale
        now = tl.maximum(best, tl.max(scores, 1))
        powers = tl.math.exp2(scores - now[:, None])
        shrink = tl.math.exp2(best - now)
        total = total * shrink + tl.sum(powers, 1)
        values = v.load([tl.program_id(1) * length + position, 0])
        result = tl.dot(powers.to(tl.float16), values, result * shrink[:, None])
        best = now
    o.store([start, 0], (result / total[:, None]).to(tl.float16))


def solve(q, k, v):
    heads, length, head = q.shape
    o = torch.empty_like(q)
    descriptors = [
        TensorDescriptor.from_tensor(x.view(heads * length, head), [1, 1]) for x in (q, k, v, o)
    ]
    grid = lambda meta: (triton.cdiv(length, meta["BLOCK_M"]), heads)  # noqa: E731
    attend[grid](*descriptors, length, 1.4427 / head**0.5, HEAD=head)
    return o
