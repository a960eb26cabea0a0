"""x[i] + y[j]: the exact result and torch's."""

import torch


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sums in double precision."""
    return x.double()[:, None] + y.double()[None, :]


def baseline(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sums by torch in the inputs' own element type."""
    return x[:, None] + y[None, :]
