# Leaves the work to torch.
import torch


def solve(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)
