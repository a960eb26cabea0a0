# Leaves the work to torch.
import torch


def solve(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b
