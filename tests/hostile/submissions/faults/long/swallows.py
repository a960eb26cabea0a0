"""76: swallows the judge's refusals and goes on. Must be: rejected or build_error."""

import torch


def solve(x):
    try:
        return torch.softmax(x, -1)
    except BaseException:
        return torch.empty_like(x)
