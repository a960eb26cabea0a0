"""SwiGLU: the exact result, torch's, and what the exponential may cost."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The gated matrix in double precision."""
    return torch.nn.functional.silu(a.double()) * b.double()


def baseline(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same by torch in the inputs' own element type."""
    return torch.nn.functional.silu(a) * b


def slack(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A share of the result: rounding -a log2(e) changes its power by up to |a| / 2^23.

    Below -88 exp(-a) is more than float32 holds, and the result 0 instead of 1e-36 or less.
    """
    share = 2.0**-21 * (1 + a.double().abs())
    return reference(a, b).abs() * share + 1e-36 * (1 + b.double().abs())
