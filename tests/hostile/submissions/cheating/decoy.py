"""78, P15: an honest kernel as decoy, and torch for the work. Must be: rejected."""

import torch

# + honest softmax

decoy = solve  # noqa: F821


def solve(x):
    decoy(x)
    weights = torch.exp(x - x.amax(1, keepdim=True))
    return weights / weights.sum(1, keepdim=True)
