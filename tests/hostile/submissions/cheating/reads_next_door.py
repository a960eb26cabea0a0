"""P5, 112: reads before its tensor and lets it count. Must be: memory_violation, wrong_answer or runtime_error."""

import torch
import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821


@triton.jit
def neighbour(x, y):
    tl.store(y, tl.load(x - 64).to(tl.float32).to(y.dtype.element_ty))


def solve(x):
    y = honest(x)
    neighbour[(1,)](x, y)
    return y
