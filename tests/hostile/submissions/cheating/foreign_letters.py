"""Z16-18: names in other letters, and text that changes direction. Must be: checked or build_error."""

import torch
import triton
import triton.language as tl

# + honest softmax

honest = solve  # noqa: F821


@triton.jit
def größe_核(y, 数):
    pass


def solve(x):
    "\u202e reversed \u200b"
    y = honest(x)
    größe_核[(1,)](y, 3)
    return y
