"""Load a task's reference.py: what is right, and what torch makes of it."""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from kernels.contract import DType, TensorSpec

Argument = Tensor | list[Tensor] | int | float


class ReferenceBroken(Exception):
    """A task's reference does not keep its protocol; the judge's fault, never a submission's."""


@dataclass(frozen=True)
class Expected:
    """What one result of a run is compared with."""

    reference: Tensor
    """In higher precision, from the inputs as stored."""
    baseline: Tensor
    """Of torch in the task's own element type."""
    slack: Tensor | None = None
    """Absolute error that each element may have beyond the rule's relative bound."""


@dataclass(frozen=True)
class Reference:
    """The functions of a task's reference.py."""

    reference: Callable[..., Any] | None
    """What is right; None where `accept` judges."""
    baseline: Callable[..., Any]
    slack: Callable[..., Any] | None = None
    make_inputs: Callable[..., Any] | None = None
    make_host_visible: Callable[..., Any] | None = None
    accept: Callable[..., Any] | None = None

    def expect(
        self, arguments: Sequence[Argument], results: Sequence[TensorSpec]
    ) -> tuple[Expected, ...]:
        """What each result is compared with, for one set of inputs; ReferenceBroken on a misfit.

        The arguments must not have been changed by whoever is judged.
        """
        if self.reference is None:
            raise ReferenceBroken("a task without `reference` has no expected result")
        references = _tensors(self.reference(*arguments), results, "reference")
        baselines = _tensors(self.baseline(*arguments), results, "baseline")
        slacks: Sequence[Tensor | None] = [None] * len(results)
        if self.slack is not None:
            slacks = _tensors(self.slack(*arguments), results, "slack", exact=False)
        return tuple(map(Expected, references, baselines, slacks))

    def refusal(self, arguments: Sequence[Argument], results: Sequence[Tensor]) -> str:
        """What the task's own `accept` finds wrong with results, in a sentence; else nothing."""
        assert self.accept is not None
        found = self.accept(arguments, tuple(results))
        if not isinstance(found, str):
            raise ReferenceBroken(f"accept returned {type(found).__name__}, not a sentence")
        return found


def load(path: str) -> Reference:
    """The reference in a file; ReferenceBroken if it is not there or lacks a function."""
    module = _execute(Path(path))
    accept = getattr(module, "accept", None)
    if not callable(getattr(module, "reference", None)) and accept is None:
        raise ReferenceBroken(f"{path} defines no function `reference`")
    if not callable(getattr(module, "baseline", None)):
        raise ReferenceBroken(f"{path} defines no function `baseline`")
    return Reference(
        getattr(module, "reference", None),
        module.baseline,
        getattr(module, "slack", None),
        getattr(module, "make_inputs", None),
        getattr(module, "make_host_visible", None),
        accept=accept,
    )


def torch_dtype(dtype: DType) -> torch.dtype:
    """Torch's object for an element type."""
    found = getattr(torch, dtype.value)
    assert isinstance(found, torch.dtype)
    return found


def _execute(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("kerneljudge_reference", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ReferenceBroken(f"there is no reference at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _tensors(
    value: object, results: Sequence[TensorSpec], what: str, exact: bool = True
) -> tuple[Tensor, ...]:
    found = tuple(value) if isinstance(value, tuple | list) else (value,)
    if len(found) != len(results):
        raise ReferenceBroken(f"{what} returned {len(found)} results, the task has {len(results)}")
    tensors = []
    for spec, tensor in zip(results, found, strict=True):
        if not isinstance(tensor, Tensor):
            raise ReferenceBroken(f"{what} returned {type(tensor).__name__} for {spec.name}")
        if exact and tuple(tensor.shape) != spec.shape:
            raise ReferenceBroken(
                f"{what} returned {tuple(tensor.shape)} for {spec.name}, the task says {spec.shape}"
            )
        tensors.append(tensor if exact else tensor.expand(spec.shape))
    return tuple(tensors)
