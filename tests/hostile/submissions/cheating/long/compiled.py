"""80: torch.compile of the eager form. Must be: rejected."""

import torch


@torch.compile
def solve(x):
    return torch.softmax(x, -1)
