"""Work whose result is known: what a healthy GPU cannot get wrong."""

import torch

_NUMBERS = 1 << 24
_SIDE, _DEPTH = 2048, 64
"""With entries up to 4 in size no sum of products is rounded in half precision."""


def problem(device: str = "cuda") -> str:
    """What is wrong with the GPU, in a sentence; '' if nothing is."""
    try:
        if not _counts(device):
            return "the GPU gets integers wrong, or does not keep them"
        return "" if _multiplies(device) else "the GPU's tensor cores give wrong products"
    except RuntimeError as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return f"the GPU fails at simple work: {first}"[:500]


def _counts(device: str) -> bool:
    numbers = torch.arange(_NUMBERS, dtype=torch.int64)
    found = numbers.to(device)
    for _ in range(4):
        numbers, found = (numbers * 48_271) ^ (numbers >> 7), (found * 48_271) ^ (found >> 7)
    return torch.equal(numbers, found.cpu())


def _multiplies(device: str) -> bool:
    chance = torch.Generator().manual_seed(0)
    left = torch.randint(-4, 5, (_SIDE, _DEPTH), generator=chance).float()
    right = torch.randint(-4, 5, (_DEPTH, _SIDE), generator=chance).float()
    found = left.half().to(device) @ right.half().to(device)
    return torch.equal(left @ right, found.float().cpu())
