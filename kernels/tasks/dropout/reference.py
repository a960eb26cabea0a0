"""Dropout: no one result is right, so a rule of its own accepts it."""

import math

import torch

SIGMAS = 6
LAGS = (1, 2, 3, 4, 5, 7, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
STEPS = {torch.float32: 2.0**-22, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
"""Twice the relative spacing of each type's numbers, for a product rounded twice."""
MOST = 65536
masks = {}
"""Of one submission, by seed: the start of a mask, in standard deviations."""


def baseline(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """The dropout of torch, which seeds itself."""
    return torch.nn.functional.dropout(x, p)


def accept(arguments, results) -> str:
    """Every element zero or scaled, and those that are zero as if drawn one by one."""
    (x, p, seed), (y,) = arguments, results
    x, y, step = x.double(), y.double(), STEPS[y.dtype]
    dropped = y == 0
    wanted = x / (1 - p) if p < 1 else torch.zeros_like(x)
    wrong = ~dropped & ~((y - wanted).abs() <= step * wanted.abs())
    if bool(wrong.any()):
        place = int(wrong.to(torch.uint8).argmax())
        return (
            f"y differs in {int(wrong.sum())} of {y.numel()} elements, first at {place}: "
            f"got {float(y[place]):.6g}, expected 0 or {float(wanted[place]):.6g}"
        )
    deviation = dropped.double() - p
    return _rate(dropped, p) or _pattern(deviation, p) or _other_seeds(deviation, p, seed)


def make_inputs(specs, values, distribution, generator):
    """Numbers that are not zero, so that a zero in the result was dropped."""
    shape, device = specs[0].shape, generator.device
    x = torch.randn(shape, generator=generator, device=device)
    if distribution == "ties":
        return [torch.ones(shape, device=device)]
    x = x + torch.where(x < 0, -0.01, 0.01)
    return [x * 50 if distribution == "outliers" else x]


def _rate(dropped: torch.Tensor, p: float) -> str:
    count, size = int(dropped.sum()), dropped.numel()
    allowed = SIGMAS * math.sqrt(size * p * (1 - p))
    if abs(count - size * p) <= allowed + (0 < p < 1):
        return ""
    return f"{count} of {size} elements are dropped, expected {size * p:.0f} within {allowed:.0f}"


def _pattern(deviation: torch.Tensor, p: float) -> str:
    if deviation.numel() < 4096 or not 0 < p < 1:
        return ""
    for lag in (lag for lag in LAGS if 2 * lag < deviation.numel()):
        products = deviation[:-lag] * deviation[lag:]
        found = float(products.sum()) / (p * (1 - p) * math.sqrt(products.numel()))
        if abs(found) > SIGMAS:
            return (
                f"whether an element is dropped goes along with the one {lag} places on: "
                f"a correlation of {found:.0f} standard deviations"
            )
    return ""


def _other_seeds(deviation: torch.Tensor, p: float, seed: int) -> str:
    if deviation.numel() < 4096 or not 0 < p < 1:
        return ""
    mask = deviation[:MOST].cpu() / math.sqrt(p * (1 - p))
    for other, theirs in masks.items():
        products = mask[: len(theirs)] * theirs[: len(mask)]
        found = float(products.sum()) / math.sqrt(len(products))
        if other != seed and abs(found) > SIGMAS:
            return (
                f"what seed {seed} drops goes along with what seed {other} drops: "
                f"a correlation of {found:.0f} standard deviations"
            )
    masks.setdefault(seed, mask)
    return ""
