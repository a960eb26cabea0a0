"""C[n] = A[n] @ B[n]: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The products in double precision."""
    return a.double() @ b.double()


def baseline(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The products by torch in the inputs' own element type."""
    return torch.bmm(a, b)


def slack(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes."""
    return (a.double().abs() @ b.double().abs()) * 2.0**-19
