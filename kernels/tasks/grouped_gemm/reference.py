"""Grouped products: the exact results, torch's, and how much rounding is allowed."""

import torch


def reference(a: list[torch.Tensor], b: list[torch.Tensor]) -> list[torch.Tensor]:
    """The products in double precision."""
    return [x.double() @ y.double() for x, y in zip(a, b, strict=True)]


def baseline(a: list[torch.Tensor], b: list[torch.Tensor]) -> list[torch.Tensor]:
    """The products by torch, one after the other."""
    return [x @ y for x, y in zip(a, b, strict=True)]


def slack(a: list[torch.Tensor], b: list[torch.Tensor]) -> list[torch.Tensor]:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes."""
    share = 2.0**-19 * max(1.0, b[0].shape[0] / 8192)
    return [x.double().abs() @ y.double().abs() * share for x, y in zip(a, b, strict=True)]
