"""C = A @ B: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product in double precision."""
    return a.double() @ b.double()


def baseline(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product by torch in the inputs' own element type."""
    return a @ b


def slack(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes.

    2^-19, and more for sums beyond 8192 terms, since each addition rounds the running sum. With
    2^-20 alone, two honest kernels of four failed on an H200: 32768 terms, a few of them large.
    """
    share = 2.0**-19 * max(1.0, a.shape[-1] / 8192)
    return (a.double().abs() @ b.double().abs()) * share
