"""C = leaky_relu(A @ B): the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor, slope: float) -> torch.Tensor:
    """The activated product in double precision."""
    return torch.nn.functional.leaky_relu(a.double() @ b.double(), slope)


def baseline(a: torch.Tensor, b: torch.Tensor, slope: float) -> torch.Tensor:
    """The same by torch in the inputs' own element type, in two kernels."""
    return torch.nn.functional.leaky_relu(a @ b, slope)


def slack(a: torch.Tensor, b: torch.Tensor, slope: float) -> torch.Tensor:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes.

    As in `matmul`. The activation enlarges no error, since its slope is at most 1.
    """
    share = 2.0**-19 * max(1.0, a.shape[-1] / 8192)
    return (a.double().abs() @ b.double().abs()) * share
