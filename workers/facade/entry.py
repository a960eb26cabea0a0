"""What a submission may name as its entry, and how it is called."""

from collections.abc import Callable
from typing import Any

import torch


def callable_of(entry: Any) -> Callable[..., Any] | None:
    """What to call for an entry: a function itself, an autograd.Function's `apply`; else None."""
    if isinstance(entry, type) and issubclass(entry, torch.autograd.Function):
        apply: Callable[..., Any] = entry.apply
        return apply
    return entry if callable(entry) else None
