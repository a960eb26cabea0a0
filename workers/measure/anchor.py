"""Fixed work that every measurement is held against: its drift is the GPU's, not a kernel's."""

from dataclasses import dataclass

import torch

from kernels.contract import DeviceName
from workers.measure.physics import nearest_product
from workers.measure.replay import capture

_COPY_BYTES = 64 << 20
_MATMUL_SIZES = (2048, 4096, 8192)
"""What a matrix product takes in time and power must resemble what it is compared with: ratios of
a product of 8192 to one of 2048 spread 0.47 % on an H200, to another of 8192 0.03 %."""

PUBLISHED: dict[DeviceName, dict[str, float]] = {
    DeviceName.H200: {"matmul_2048": 24.3, "matmul_4096": 176.4, "matmul_8192": 1598.0}
}
"""Microseconds of anchors on a device, as measured in docs/measured.md. Only of those that
arithmetic bounds: their time follows the clock, which that of a copy does not. A new number makes
old scores incomparable."""


@dataclass(frozen=True)
class Anchor:
    """A graph of known work."""

    name: str
    graph: torch.cuda.CUDAGraph
    amount: float
    """Bytes it moves, or FLOPs it does."""
    published: float | None
    """Microseconds it takes on this device as a rule; None if that was never measured."""
    kept: tuple[torch.Tensor, ...]
    """What the graph reads and writes."""


class Anchors:
    """The anchors of a device; each is made when it is first needed."""

    def __init__(self, device: DeviceName) -> None:
        self._published = PUBLISHED.get(device, {})
        self._made: dict[str, Anchor] = {}

    def copy(self) -> Anchor:
        """A copy of 64 MiB, for what memory bounds."""
        if "copy" not in self._made:
            self._made["copy"] = copy("copy", _COPY_BYTES)
        return self._made["copy"]

    def matmul(self, flops: float) -> Anchor:
        """A bfloat16 product of square matrices, the one nearest in work, for arithmetic."""
        size = nearest_product(flops, _MATMUL_SIZES)
        name = f"matmul_{size}"
        if name not in self._made:
            self._made[name] = matmul(name, size, self._published.get(name))
        return self._made[name]


def copy(name: str, nbytes: int) -> Anchor:
    """A copy within the GPU's memory."""
    source = torch.full((nbytes,), 7, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)

    def work() -> None:
        target.copy_(source)

    work()
    return Anchor(name, capture(work), 2 * nbytes, None, (source, target))


def matmul(name: str, size: int, published: float | None = None) -> Anchor:
    """A bfloat16 product of square matrices of random numbers."""
    generator = torch.Generator("cuda").manual_seed(1)
    left, right = (
        torch.randn((size, size), generator=generator, device="cuda").to(torch.bfloat16)
        for _ in range(2)
    )
    target = torch.empty_like(left)

    def work() -> None:
        torch.matmul(left, right, out=target)

    work()
    return Anchor(name, capture(work), 2 * size**3, published, (left, right, target))
