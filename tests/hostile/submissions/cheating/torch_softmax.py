"""75, P15: the whole work in torch. Must be: rejected."""

import torch


def solve(x):
    return torch.softmax(x, -1)
