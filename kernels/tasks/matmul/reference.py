"""C = A @ B: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product in double precision."""
    return a.double() @ b.double()


def baseline(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product by torch in the inputs' own element type."""
    return a @ b


def slack(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What summing in single precision may cost: 2^-20 of the sum of the terms' magnitudes."""
    return (a.double().abs() @ b.double().abs()) * 2.0**-20 + _smallest(a.dtype)


def _smallest(dtype: torch.dtype) -> float:
    # fp16 results reach its subnormals; fp32 arithmetic on the GPU may flush its own to zero.
    return 2.0**-24 if dtype is torch.float16 else 2.0**-126
