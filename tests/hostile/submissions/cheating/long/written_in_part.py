"""52: writes the first rows only. Must be: wrong_answer."""

import torch

# + honest softmax


def solve(x):
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    rows = max(1, x.shape[0] // 2)
    softmax_rows[(rows,)](x, y, x.stride(0), x.shape[1], BLOCK=2048)  # noqa: F821
    return y
