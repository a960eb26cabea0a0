"""P4, 113: a store far outside every tensor. Must be: memory_violation or runtime_error."""

import torch
import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821


@triton.jit
def far(y, distance):
    tl.store(y + distance, 1.0)


def solve(x):
    y = honest(x)
    far[(1,)](y, 1 << 40)
    return y
