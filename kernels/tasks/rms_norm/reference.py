"""RMS normalisation: the exact result, torch's, and what single precision may cost."""

import torch


def reference(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    """The normalised rows in double precision."""
    x = x.double()
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + eps) * w.double()


def baseline(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    """The same by torch in x's own element type."""
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)


def slack(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    """A share of the result: the root's and the products' rounding, and that of the running sum."""
    return reference(x, w, eps).abs() * (2.0**-20 + 2.0**-33 * x.shape[-1])
