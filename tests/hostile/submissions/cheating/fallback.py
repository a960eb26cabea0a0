"""76, 79: a kernel that fails, torch when it does. Must be: rejected."""

import torch
import triton


@triton.jit
def broken(x, undefined):
    return nothing_of_that_name  # noqa: F821


def solve(x):
    try:
        broken[(1,)](x, 1)
    except Exception:
        pass
    return torch.nn.functional.softmax(x, dim=1)
