"""Convolution, channels last: the exact result, torch's, and how much rounding is allowed."""

import torch


def reference(x: torch.Tensor, w: torch.Tensor, step: int, padding: int) -> torch.Tensor:
    """The convolution in double precision."""
    return _products(x.double(), w.double(), step, padding)


def baseline(x: torch.Tensor, w: torch.Tensor, step: int, padding: int) -> torch.Tensor:
    """The convolution by torch on tensors whose channels come last."""
    y = torch.nn.functional.conv2d(
        x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), stride=step, padding=padding
    )
    return y.permute(0, 2, 3, 1)


def slack(x: torch.Tensor, w: torch.Tensor, step: int, padding: int) -> torch.Tensor:
    """What summing in single precision may cost: a share of the sum of the terms' magnitudes.

    Tensor cores add 16 terms at a time and cut what does not fit, always towards zero. Where
    pixels and windows are constant that adds up: half a unit of the sum, 2^-24, for each addition.
    """
    terms = w[0].numel()
    share = max(2.0**-19, terms / 16 * 2.0**-24)
    return _products(x.double().abs(), w.double().abs(), step, padding) * share


def _products(x: torch.Tensor, w: torch.Tensor, step: int, padding: int) -> torch.Tensor:
    """A matrix product for each place of the window."""
    padded = torch.nn.functional.pad(x, (0, 0, padding, padding, padding, padding))
    _, R, S, _ = w.shape
    tall = (padded.shape[1] - R) // step + 1
    wide = (padded.shape[2] - S) // step + 1
    total = None
    for r in range(R):
        for s in range(S):
            rows = padded[:, r : r + (tall - 1) * step + 1 : step]
            part = rows[:, :, s : s + (wide - 1) * step + 1 : step] @ w[:, r, s].T
            total = part if total is None else total.add_(part)
    return total
