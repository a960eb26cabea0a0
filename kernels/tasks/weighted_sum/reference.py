"""Weighted row sums: the exact result, torch's, and what summing in single precision may cost."""

import torch


def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The sums in double precision."""
    return x.double() @ w.double()


def baseline(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The sums by torch in the inputs' own element type."""
    return x @ w


def slack(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """A share of the sum of the terms' magnitudes: each addition rounds the running sum."""
    share = 2.0**-19 * max(1.0, x.shape[-1] / 8192)
    return x.double().abs() @ w.double().abs() * share
