"""Softmax over long rows: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(x: torch.Tensor) -> torch.Tensor:
    """Softmax of each row, in double precision."""
    return torch.softmax(x.double(), dim=-1)


def baseline(x: torch.Tensor) -> torch.Tensor:
    """The same by torch in x's own element type."""
    return torch.softmax(x, dim=-1)


def slack(x: torch.Tensor) -> torch.Tensor:
    """What single-precision arithmetic costs beyond rounding the result, as a share of it.

    2^-19 (1 + |z|) for exp of z = x - max, 2^-23 max|x| for who multiplies by log2(e) first, and
    2^-33 N for running sums over blocks of 512 columns.
    """
    wide = x.double()
    z = wide - wide.amax(dim=-1, keepdim=True)
    largest = wide.abs().amax(dim=-1, keepdim=True)
    share = 2.0**-19 * (1 - z) + 2.0**-23 * largest + 2.0**-33 * x.shape[-1]
    return torch.softmax(z, dim=-1) * share
