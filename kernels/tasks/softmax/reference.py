"""Softmax over rows: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(x: torch.Tensor) -> torch.Tensor:
    """Softmax of each row, in double precision."""
    return torch.softmax(x.double(), dim=-1)


def baseline(x: torch.Tensor) -> torch.Tensor:
    """The same by torch in x's own element type."""
    return torch.softmax(x, dim=-1)


def slack(x: torch.Tensor) -> torch.Tensor:
    """What single-precision arithmetic costs beyond rounding the result, as a share of it.

    - 2^-19 (1 + |z|): rounding z = x - max and multiplying it by log2(e) changes exp(z) by a factor
      of up to 1 + |z| / 2^23; the GPU's exp2, reciprocal and division add 2^-22 each.
    - 2^-23 max|x|: who multiplies by log2(e) before the maximum is taken off rounds both products.
    - 2^-30 N: a loop over blocks of 64 columns rounds its running sum N / 64 times by 2^-24. The
      sums of 64 random columns of 2048 and 128256 were seen to use a half and an eighth of it.
    """
    wide = x.double()
    z = wide - wide.amax(dim=-1, keepdim=True)
    largest = wide.abs().amax(dim=-1, keepdim=True)
    share = 2.0**-19 * (1 - z) + 2.0**-23 * largest + 2.0**-30 * x.shape[-1]
    return torch.softmax(z, dim=-1) * share
