"""Rotary embedding: the exact result, torch's, and what single precision may cost."""

import torch


def reference(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """The rotated heads in double precision."""
    return _rotated(x.double(), cos.double(), sin.double())


def baseline(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """The same by torch in x's own element type."""
    return _rotated(x, cos.to(x.dtype), sin.to(x.dtype))


def slack(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """A share of both products, of which the sum may be small."""
    return _rotated(x.double().abs(), cos.double().abs(), sin.double().abs(), 1) * 2.0**-22


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, sign: int = -1) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.cat([first * cos + sign * second * sin, second * cos + first * sin], dim=-1)
