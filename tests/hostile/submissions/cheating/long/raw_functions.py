"""75, 81: torch below its public functions. Must be: rejected."""

import torch


def solve(x):
    return torch._C._VariableFunctions.softmax(x, 1)
