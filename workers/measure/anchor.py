"""Fixed work that every measurement is held against: its drift is the GPU's, not a kernel's."""

import functools

import torch

from workers.measure.replay import capture

_COPY_BYTES = 64 << 20
_MATMUL_SIZE = 2048


class Anchors:
    """Graphs of the anchors; each is made when it is first needed."""

    @functools.cached_property
    def copy(self) -> torch.cuda.CUDAGraph:
        """A copy of 64 MiB, for what memory bounds."""
        source = torch.full((_COPY_BYTES,), 7, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        self._kept = [source, target]

        def work() -> None:
            target.copy_(source)

        work()
        return capture(work)

    @functools.cached_property
    def matmul(self) -> torch.cuda.CUDAGraph:
        """A bfloat16 product of two 2048 x 2048 matrices, for what arithmetic bounds."""
        generator = torch.Generator("cuda").manual_seed(1)
        shape = (_MATMUL_SIZE, _MATMUL_SIZE)
        left, right = (
            torch.randn(shape, generator=generator, device="cuda").to(torch.bfloat16)
            for _ in range(2)
        )
        target = torch.empty_like(left)
        self._kept_matmul = [left, right, target]

        def work() -> None:
            torch.matmul(left, right, out=target)

        work()
        return capture(work)
