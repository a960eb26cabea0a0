"""37, 56: looks at the values and answers from a table. Must be: rejected."""

import torch


def solve(x):
    return torch.full_like(x, 1 / x.shape[1]) if x[0, 0].item() == 0 else x
