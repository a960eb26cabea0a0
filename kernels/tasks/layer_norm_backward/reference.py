"""Gradients of layer normalisation: the exact results, torch's, and what rounding may cost."""

import torch


def reference(dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, eps: float):
    """The gradients of x, w and the bias in double precision."""
    dy, (normal, scale) = dy.double(), _normal(x, eps)
    weighted = dy * w.double()
    along = (normal * weighted).mean(dim=-1, keepdim=True)
    dx = (weighted - weighted.mean(dim=-1, keepdim=True) - normal * along) * scale
    return dx, (dy * normal).sum(dim=0), dy.sum(dim=0)


def baseline(dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, eps: float):
    """The gradients by torch's own kernels, in the inputs' element type."""
    size = (x.shape[-1],)
    x = x.contiguous()
    _, mean, scale = torch.native_layer_norm(x, size, w, w, eps)
    return torch.ops.aten.native_layer_norm_backward(
        dy, x, size, mean, scale, w, w, [True, True, True]
    )


def slack(dy: torch.Tensor, x: torch.Tensor, w: torch.Tensor, eps: float):
    """How an error of the row's mean, 2^-21 of its largest number, and rounding of sums spread."""
    unit = 2.0**-20
    dy, (normal, scale) = dy.double().abs(), _normal(x, eps)
    normal = normal.abs()
    off = x.double().abs().amax(dim=-1, keepdim=True) * scale * unit / 2 + normal * unit
    weighted = dy * w.double().abs()
    along = (normal * weighted).mean(dim=-1, keepdim=True)
    along_off = (off * weighted).mean(dim=-1, keepdim=True) + along * unit
    level = weighted.mean(dim=-1, keepdim=True)
    dx = off * along + normal * along_off + unit * (weighted + normal * along + 2 * level)
    share = 2 * unit * max(1.0, x.shape[0] / 8192)
    return dx * scale, (dy * (off + normal * share)).sum(dim=0), dy.sum(dim=0) * share


def _normal(x: torch.Tensor, eps: float):
    x = x.double()
    apart = x - x.mean(dim=-1, keepdim=True)
    scale = torch.rsqrt(apart.square().mean(dim=-1, keepdim=True) + eps)
    return apart * scale, scale
