"""A task's tensors on the CPU: inputs from bytes, results back to bytes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from kernels.contract import Case, DType, NumberSpec, Task, TensorSpec
from workers.interpret.faults import InputChanged, WrongResult


@dataclass(frozen=True)
class Arguments:
    """What the entry function is called with in one run."""

    values: tuple[torch.Tensor | int | float, ...]
    buffers: tuple[tuple[str, torch.Tensor, bytes], ...]
    """Of each input: its name, its bytes as a tensor, and what they were."""

    def check_unchanged(self) -> None:
        """InputChanged if an input does not hold what it held."""
        for name, buffer, content in self.buffers:
            if buffer.numpy().tobytes() != content:
                raise InputChanged(f"it changed its input {name}")


def arguments(task: Task, case: Case, blobs: Iterator[bytes]) -> Arguments:
    """The arguments of one run; takes one blob per tensor."""
    values: list[torch.Tensor | int | float] = []
    buffers = []
    for spec in task.arguments(case):
        if isinstance(spec, NumberSpec):
            values.append(spec.value)
            continue
        content = next(blobs)
        buffer = _aligned(content)
        buffers.append((spec.name, buffer, content))
        values.append(_strided(buffer, spec))
    return Arguments(tuple(values), tuple(buffers))


def outputs(task: Task, case: Case) -> tuple[torch.Tensor, ...]:
    """Tensors for the entry function to write into, where the task passes them; NaN so far."""
    if task.style == "return":
        return ()
    return tuple(
        torch.empty(spec.shape, dtype=torch_dtype(spec.dtype)) for spec in task.results(case)
    )


def results(returned: Any, specs: Sequence[TensorSpec]) -> Iterator[bytes]:
    """The contiguous bytes of each result; WrongResult unless they are what the task asks for."""
    found = returned if isinstance(returned, tuple | list) else (returned,)
    if len(found) != len(specs):
        raise WrongResult(f"it returned {len(found)} results, the task asks for {len(specs)}")
    for value, spec in zip(found, specs, strict=True):
        if not isinstance(value, torch.Tensor):
            raise WrongResult(f"{spec.name} must be a tensor, it is {type(value).__name__}")
        if tuple(value.shape) != spec.shape or value.dtype != torch_dtype(spec.dtype):
            raise WrongResult(
                f"{spec.name} must have shape {spec.shape} and dtype {spec.dtype.value}, "
                f"it has {tuple(value.shape)} and {str(value.dtype).removeprefix('torch.')}"
            )
        yield _bytes(value)


def torch_dtype(dtype: DType) -> torch.dtype:
    """Torch's object for an element type."""
    found = getattr(torch, dtype.value)
    assert isinstance(found, torch.dtype)
    return found


def _aligned(content: bytes) -> torch.Tensor:
    # torch aligns what it allocates; kernels may rely on it as on a GPU.
    buffer = torch.empty(len(content), dtype=torch.uint8)
    if content:
        buffer.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
    return buffer


def _strided(buffer: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    tensor = torch.empty(0, dtype=torch_dtype(spec.dtype))
    return tensor.set_(buffer.untyped_storage(), spec.offset, spec.shape, spec.strides)


def _bytes(tensor: torch.Tensor) -> bytes:
    flat = tensor.detach().contiguous().view(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
