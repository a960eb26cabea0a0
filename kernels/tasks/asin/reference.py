"""Arcsine: the exact result, torch's, and inputs around its domain."""

import torch


def reference(x: torch.Tensor) -> torch.Tensor:
    """The arcsine in double precision."""
    return torch.asin(x.double())


def baseline(x: torch.Tensor) -> torch.Tensor:
    """The arcsine by torch in x's own element type."""
    return torch.asin(x)


def make_inputs(specs, values, distribution, generator):
    """Numbers from -1 to 1; a few beyond in `outliers`, quarters in `ties`."""
    shape, device = specs[0].shape, generator.device
    x = torch.rand(shape, generator=generator, device=device) * 2 - 1
    if distribution == "tiny":
        x = x * 1e-3
    if distribution == "outliers":
        x = torch.where(x.abs() > 0.99, x * 2, x)
    if distribution == "ties":
        x = torch.round(x * 4) / 4
    return [x]
