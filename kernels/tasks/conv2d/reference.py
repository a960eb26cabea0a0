"""Convolution with one window: the exact result, torch's, and what summing may cost."""

import torch


def reference(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The convolution in double precision."""
    return _shifted(x.double(), k.double())


def baseline(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The convolution by torch in the inputs' own element type."""
    padded = torch.nn.functional.pad(x, (0, k.shape[1] - 1, 0, k.shape[0] - 1))
    return torch.nn.functional.conv2d(padded[:, None], k[None, None])[:, 0]


def slack(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """What single precision may cost: half a unit of the sum of magnitudes for each term.

    That is the bound for any order of adding them; among 2^26 sums some come to half of it.
    """
    share = max(2.0**-21, (k.numel() + 1) * 2.0**-24)
    return _shifted(x.double().abs(), k.double().abs()) * share


def _shifted(x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    height, width = x.shape[1:]
    padded = torch.nn.functional.pad(x, (0, k.shape[1] - 1, 0, k.shape[0] - 1))
    total = torch.zeros_like(x)
    for u in range(k.shape[0]):
        for v in range(k.shape[1]):
            total += padded[:, u : u + height, v : v + width] * k[u, v]
    return total
