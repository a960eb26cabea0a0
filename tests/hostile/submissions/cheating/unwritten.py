"""50: returns memory that nothing wrote. Must be: rejected, build_error or wrong_answer."""

import torch

# + honest softmax

decoy = solve  # noqa: F821


def solve(x):
    decoy(x)
    return torch.empty_like(x)
