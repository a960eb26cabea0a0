"""Make inputs: every distribution, from a secret seed, in the layout that a case asks for."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.contract import Case, Distribution, DType, NumberSpec, Task, TensorSpec
from kernels.contract.tensor import nested
from workers.measure.reference import Argument, Reference, ReferenceBroken, torch_dtype

_OFFSET = 100.0
"""exp of it overflows float32, so a softmax that does not subtract the maximum shows."""

_TINY = 1e-3
_OUTLIER = 50.0
_OUTLIER_SHARE = 1e-3
_ZERO_ROWS = 0.25
_PUBLIC_SEED = 0
"""Of what host code may read: anyone may know it."""

_GAP = 0xFF
"""Byte between the elements of a strided input: NaN in every float type."""


@dataclass(frozen=True)
class Inputs:
    """The arguments of one run."""

    arguments: tuple[Argument, ...]
    """As the reference takes them: strided tensors, lists of such, and numbers."""
    buffers: dict[str, Tensor]
    """Bytes under each tensor argument, by its name; TensorSpec.nbytes long."""


def derive(seed: int, *parts: object) -> int:
    """A seed of 63 bits for one purpose, such that no other can be found from it."""
    text = "\0".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def make(
    task: Task,
    case: Case,
    distribution: Distribution,
    round_: int,
    seed: int,
    reference: Reference,
    device: str = "cpu",
) -> Inputs:
    """Inputs of one run; the same for the same seed on the same kind of device."""
    generator = torch.Generator(device)
    generator.manual_seed(derive(seed, task.name, case.name, distribution.value, round_))
    specs = task.arguments(case)
    made = {name: buffer.to(device) for name, buffer in host_visible(task, case, reference).items()}
    for spec, value in _secret(case, specs, distribution, generator, reference):
        made[spec.name] = _store(value.to(device), spec)
    buffers = {spec.name: made[spec.name] for spec in specs if isinstance(spec, TensorSpec)}
    arguments = tuple(
        spec.value if isinstance(spec, NumberSpec) else strided(buffers[spec.name], spec)
        for spec in specs
    )
    return Inputs(tuple(nested(specs, arguments)), buffers)


def host_visible(task: Task, case: Case, reference: Reference) -> dict[str, Tensor]:
    """Bytes of the inputs that host code may read, by name; the same in every run, on the CPU.

    ReferenceBroken if the reference does not make them.
    """
    specs = task.host_visible(case)
    if not specs:
        return {}
    if reference.make_host_visible is None:
        raise ReferenceBroken(f"task {task.name} needs make_host_visible in its reference.py")
    generator = torch.Generator()
    generator.manual_seed(derive(_PUBLIC_SEED, task.name, case.name))
    made = list(reference.make_host_visible(specs, dict(case.values), generator))
    _check(made, specs, "make_host_visible")
    return {spec.name: _store(v.cpu(), spec) for spec, v in zip(specs, made, strict=True)}


def _secret(
    case: Case,
    specs: Sequence[TensorSpec | NumberSpec],
    distribution: Distribution,
    generator: torch.Generator,
    reference: Reference,
) -> Iterator[tuple[TensorSpec, Tensor]]:
    """Each tensor that host code may not read, with its values."""
    hidden = [s for s in specs if isinstance(s, NumberSpec) or not s.host_visible]
    tensors = [spec for spec in hidden if isinstance(spec, TensorSpec)]
    if reference.make_inputs is None:
        for index, spec in enumerate(tensors):
            yield spec, draw(spec, distribution, generator, leading=index == 0)
        return
    made = reference.make_inputs(tuple(hidden), dict(case.values), distribution.value, generator)
    values = list(made)
    _check(values, tensors, "make_inputs")
    yield from zip(tensors, values, strict=True)


def strided(buffer: Tensor, spec: TensorSpec) -> Tensor:
    """The tensor of a specification in its buffer of bytes."""
    tensor = torch.empty(0, dtype=torch_dtype(spec.dtype), device=buffer.device)
    return tensor.set_(buffer.untyped_storage(), spec.offset, spec.shape, spec.strides)


def draw(
    spec: TensorSpec, distribution: Distribution, generator: torch.Generator, leading: bool = True
) -> Tensor:
    """Row-major values of one tensor; only the leading one is shifted in `offset`."""
    if distribution is Distribution.OFFSET and not leading:
        distribution = Distribution.NORMAL
    distribution = spec.distribution or distribution
    if spec.dtype is DType.BOOL:
        return _booleans(spec.shape, distribution, generator)
    if spec.dtype.is_float:
        return _floats(spec, distribution, generator)
    if spec.low is not None and spec.high is not None:
        return _bounded(spec, spec.low, spec.high, distribution, generator)
    return _integers(spec, distribution, generator)


def _store(value: Tensor, spec: TensorSpec) -> Tensor:
    buffer = torch.full((spec.nbytes,), _GAP, dtype=torch.uint8, device=value.device)
    if spec.numel:
        strided(buffer, spec).copy_(value)
    return buffer


def _check(values: Sequence[object], specs: Sequence[TensorSpec], maker: str) -> None:
    if len(values) != len(specs):
        raise ReferenceBroken(f"{maker} made {len(values)} tensors, the task has {len(specs)}")
    for value, spec in zip(values, specs, strict=True):
        if not isinstance(value, Tensor) or tuple(value.shape) != spec.shape:
            raise ReferenceBroken(f"{maker} made no tensor of shape {spec.shape}: {spec.name}")


def _floats(spec: TensorSpec, distribution: Distribution, generator: torch.Generator) -> Tensor:
    dtype = torch.float64 if spec.dtype is DType.FLOAT64 else torch.float32

    def normal(shape: tuple[int, ...]) -> Tensor:
        return torch.randn(shape, generator=generator, device=generator.device, dtype=dtype)

    match distribution:
        case Distribution.NORMAL:
            values = normal(spec.shape)
        case Distribution.OFFSET:
            values = normal(spec.shape).add_(_OFFSET)
        case Distribution.TINY:
            values = normal(spec.shape).mul_(_TINY)
        case Distribution.OUTLIERS:
            values = _with_outliers(normal(spec.shape), generator)
        case Distribution.TIES:
            values = _whole(spec.shape, -4, 4, generator).to(dtype)
        case Distribution.CONSTANT_ROWS:
            values = _constant_rows(spec.shape, normal, generator)
    limit = torch.finfo(torch_dtype(spec.dtype)).max
    return values.clamp_(-limit, limit)


def _integers(spec: TensorSpec, distribution: Distribution, generator: torch.Generator) -> Tensor:
    info = torch.iinfo(torch_dtype(spec.dtype))
    signed = info.min < 0

    def around(shape: tuple[int, ...], reach: int) -> Tensor:
        low = -reach if signed else 0
        return _whole(shape, low, low + 2 * reach, generator)

    match distribution:
        case Distribution.NORMAL:
            values = around(spec.shape, 50)
        case Distribution.OFFSET:
            values = around(spec.shape, 10).add_(min(info.max // 2, 10_000))
        case Distribution.TINY:
            values = around(spec.shape, 1)
        case Distribution.OUTLIERS:
            values = _with_outliers(around(spec.shape, 50), generator)
        case Distribution.TIES:
            values = around(spec.shape, 2)
        case Distribution.CONSTANT_ROWS:
            values = _constant_rows(spec.shape, lambda shape: around(shape, 50), generator)
    # Of uint64 the upper half is left out: torch's int64 arithmetic cannot make it.
    return values.clamp_(max(info.min, -(2**63)), min(info.max, 2**63 - 1))


def _bounded(
    spec: TensorSpec,
    low: int,
    high: int,
    distribution: Distribution,
    generator: torch.Generator,
) -> Tensor:
    """Integers of the whole range; with both ends alone for outliers, or many equal."""

    def within(shape: tuple[int, ...]) -> Tensor:
        return _whole(shape, low, high, generator)

    match distribution:
        case Distribution.OUTLIERS:
            return _whole(spec.shape, 0, 1, generator) * (high - low) + low
        case Distribution.TIES:
            return _whole(spec.shape, low, min(low + 1, high), generator)
        case Distribution.CONSTANT_ROWS:
            rows = (*spec.shape[:-1], 1) if spec.shape else ()
            return within(rows).expand(spec.shape).clone()
        case _:
            return within(spec.shape)


def _booleans(
    shape: tuple[int, ...], distribution: Distribution, generator: torch.Generator
) -> Tensor:
    def bits(shape: tuple[int, ...]) -> Tensor:
        share = {Distribution.OFFSET: 0.9, Distribution.TINY: 0.01, Distribution.OUTLIERS: 0.05}
        random = torch.rand(shape, generator=generator, device=generator.device)
        return random < share.get(distribution, 0.5)

    if distribution is Distribution.CONSTANT_ROWS:
        return _constant_rows(shape, bits, generator)
    return bits(shape)


def _whole(shape: tuple[int, ...], low: int, high: int, generator: torch.Generator) -> Tensor:
    """Uniform integers from low to high, both included."""
    return torch.randint(low, high + 1, shape, generator=generator, device=generator.device)


def _with_outliers(values: Tensor, generator: torch.Generator) -> Tensor:
    if values.numel() == 0:
        return values
    flat = values.view(-1)
    count = max(1, round(flat.numel() * _OUTLIER_SHARE))
    places = _whole((count,), 0, flat.numel() - 1, generator)
    flat[places] = flat[places] * int(_OUTLIER)
    return values


def _constant_rows(
    shape: tuple[int, ...],
    make_values: Callable[[tuple[int, ...]], Tensor],
    generator: torch.Generator,
) -> Tensor:
    rows = (*shape[:-1], 1) if shape else ()
    values = make_values(rows)
    kept = torch.rand(rows, generator=generator, device=generator.device) >= _ZERO_ROWS
    # Not masked_fill: a GPU takes 50 ms to load that kernel, and has this one already.
    return (values * kept.to(values.dtype)).expand(shape).clone()
