"""Layer normalisation: the exact result, torch's, and what single precision may cost."""

import torch


def reference(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
    """The normalised rows in double precision."""
    return _scaled(x, eps) * w.double() + b.double()


def baseline(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
    """The same by torch in x's own element type."""
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, eps)


def slack(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
    """Rounding of the mean, which a small variance enlarges, and of what is done to its distance.

    2^-21 of the row's largest number is what the mean may be off by, and 2^-33 N for a running sum.
    """
    wide = x.double()
    scale = torch.rsqrt(wide.var(dim=-1, keepdim=True, correction=0) + eps)
    share = 2.0**-21 + 2.0**-33 * x.shape[-1]
    mean = wide.abs().amax(dim=-1, keepdim=True) * scale * share
    return (mean + _scaled(x, eps).abs() * 2 * share) * w.double().abs() + b.double().abs() * 2**-23


def _scaled(x: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x.double(), (x.shape[-1],), eps=eps)
