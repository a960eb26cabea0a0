"""Gradients of max(x[i] * y[j], 0): the exact result, torch's, and what summing may cost."""

import torch


def _terms(x: torch.Tensor, y: torch.Tensor, dz: torch.Tensor) -> torch.Tensor:
    """What passes the ReLU."""
    return torch.where(x[:, None] * y[None, :] > 0, dz, torch.zeros_like(dz))


def reference(
    x: torch.Tensor, y: torch.Tensor, dz: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of x and y in double precision."""
    x, y = x.double(), y.double()
    passed = _terms(x, y, dz.double())
    return passed @ y, x @ passed


def baseline(
    x: torch.Tensor, y: torch.Tensor, dz: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients by torch in the inputs' own element type."""
    passed = _terms(x, y, dz)
    return passed @ y, x @ passed


def slack(x: torch.Tensor, y: torch.Tensor, dz: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes."""
    x, y = x.double(), y.double()
    passed = _terms(x, y, dz.double()).abs()
    share = 2.0**-19 * max(1.0, max(x.numel(), y.numel()) / 8192)
    return passed @ y.abs() * share, x.abs() @ passed * share
