"""The canary: silent where arithmetic is right, on whatever device, and loud where it is not."""

import importlib.util
from pathlib import Path

import pytest
import torch

from tests.forked import forked
from workers.measure import canary

_GPU = Path("/dev/nvidiactl").exists() and importlib.util.find_spec("cuda") is not None


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary, "_NUMBERS", 1 << 16)
    monkeypatch.setattr(canary, "_SIDE", 128)


def test_what_it_computes_is_exact(small: None) -> None:
    assert canary.problem("cpu") == ""


@pytest.mark.parametrize(
    ("name", "words"), [("__mul__", "integers"), ("__matmul__", "tensor cores")]
)
def test_wrong_arithmetic_is_noticed(
    small: None, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    """Every second operation of one kind, which is the device's, is off by one in one place."""
    right, calls = getattr(torch.Tensor, name), []

    def wrong(one: torch.Tensor, other: object) -> torch.Tensor:
        found: torch.Tensor = right(one, other)
        calls.append(name)
        if one.dtype is torch.half if name == "__matmul__" else len(calls) == 2:
            found.view(-1)[12345] += 1
        return found

    monkeypatch.setattr(torch.Tensor, name, wrong)
    assert words in canary.problem("cpu")


def test_a_device_that_fails_is_a_problem() -> None:
    assert "fails at simple work" in canary.problem("meta")


@pytest.mark.gpu
@pytest.mark.skipif(not _GPU, reason="needs a Hopper GPU")
def test_a_healthy_gpu_passes() -> None:
    assert forked(canary.problem) == ""
