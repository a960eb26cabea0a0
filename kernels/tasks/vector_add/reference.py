"""Sum of two vectors: the exact result and torch's."""

import torch


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum in double precision."""
    return x.double() + y.double()


def baseline(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum by torch in the inputs' own element type."""
    return x + y
