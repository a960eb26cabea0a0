"""Gluon kernels, which no interpreter runs, on sizes that fit no tile: natively, on a real GPU."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from kernels.catalog import Catalog
from tests.forked import forked
from workers.measure.compare import relative_error

_GPU = Path("/dev/nvidiactl").exists() and importlib.util.find_spec("cuda") is not None
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not _GPU, reason="needs a Hopper GPU")]


@pytest.mark.parametrize(
    ("shape", "channels", "window", "padding"),
    [
        ((3, 19, 23, 64), 72, 3, 1),
        ((1, 57, 57, 128), 264, 3, 1),
        ((5, 7, 7, 192), 136, 5, 2),
        ((33, 3, 2, 64), 40, 1, 0),
        ((2, 100, 9, 64), 520, 2, 0),
    ],
)
def test_boxes_of_a_convolution(
    shape: tuple[int, ...], channels: int, window: int, padding: int
) -> None:
    def error() -> float:
        torch.manual_seed(1)
        x = torch.randn(shape, device="cuda").bfloat16()
        w = torch.randn((channels, window, window, shape[-1]), device="cuda").bfloat16()
        solve, reference = _loaded("conv2d_nhwc", "boxes")
        return relative_error(solve(x, w, 1, padding), reference(x, w, 1, padding))

    assert forked(error) < 4e-3


def _loaded(task: str, solution: str) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """Entry function of a solution, and the reference."""
    folder = Catalog()[task]
    found = []
    for path, name in (
        (folder.path / "solutions" / f"{solution}.py", folder.task.entry),
        (folder.reference, "reference"),
    ):
        spec = importlib.util.spec_from_file_location(f"{path.stem}_of_{task}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(vars(module)[name])
    return found[0], found[1]
