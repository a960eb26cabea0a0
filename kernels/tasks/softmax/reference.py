"""Softmax over rows: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(x: torch.Tensor) -> torch.Tensor:
    """Softmax of each row, in double precision."""
    return torch.softmax(x.double(), dim=-1)


def baseline(x: torch.Tensor) -> torch.Tensor:
    """The same by torch in x's own element type."""
    return torch.softmax(x, dim=-1)


def slack(x: torch.Tensor) -> torch.Tensor:
    """What single-precision arithmetic costs beyond rounding the result.

    Rounding z = x - max and multiplying it by log2(e) changes exp(z) by a factor of up to
    1 + |z| / 2^23; the GPU's exp2, reciprocal and division add 2^-22 each. Twice that is allowed.
    Results below the smallest number of the element type may become zero.
    """
    z = x.double()
    z = z - z.amax(dim=-1, keepdim=True)
    return torch.softmax(z, dim=-1) * (1 - z) * 2.0**-19 + _smallest(x.dtype)


def _smallest(dtype: torch.dtype) -> float:
    # fp16 results reach its subnormals; fp32 arithmetic on the GPU may flush its own to zero.
    return 2.0**-24 if dtype is torch.float16 else 2.0**-126
