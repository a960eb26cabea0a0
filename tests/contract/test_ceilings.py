"""Ceilings come from other machines by way of Redis: out of bounds or absurd, they do not count."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from kernels.contract import DEVICES, Ceilings, DeviceName

H200 = DEVICES[DeviceName.H200]


def ceilings(**changes: Any) -> Ceilings:
    """As an H200 reached them."""
    values: dict[str, Any] = {
        "copy_bytes_per_second": 4.267e12,
        "matmul_flops_per_second": 7.217e14,
        "matmul_clock_hz": 1.545e9,
        "taken_at": datetime(2026, 11, 30, tzinfo=UTC),
    }
    return Ceilings.model_validate(values | changes)


def test_what_an_h200_reached_is_sane() -> None:
    assert ceilings().problem(H200) == ""
    assert ceilings(matmul_clock_hz=None).problem(H200) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"copy_bytes_per_second": 9e12}, "188% of the H200's bandwidth"),
        ({"copy_bytes_per_second": 1e12}, "21% of the H200's bandwidth"),
        ({"matmul_flops_per_second": 9.9e14}, "tensor cores"),
        ({"matmul_flops_per_second": 1e14}, "tensor cores"),
    ],
)
def test_what_no_working_h200_reaches_is_a_problem(changes: dict[str, Any], words: str) -> None:
    assert words in ceilings(**changes).problem(H200)


@pytest.mark.parametrize(
    "changes",
    [
        {"copy_bytes_per_second": 0.0},
        {"copy_bytes_per_second": float("nan")},
        {"matmul_flops_per_second": 1e30},
        {"matmul_clock_hz": -1.0},
        {"throttled": ["x"] * 17},
        {"throttled": ["x" * 501]},
        {"more": 1},
    ],
)
def test_out_of_bounds_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ceilings(**changes)


def test_the_floor_is_that_of_what_was_reached() -> None:
    reached = ceilings()
    assert reached.floor(0, 4_267_000_000, "fp32", None) == pytest.approx(1000)
    flops = 7_217_000_000_000
    assert reached.floor(flops, 1, "tensor16", None) == pytest.approx(10_000)
    assert reached.floor(flops, 1, "tensor16", 3.09e9) == pytest.approx(5_000)
    assert reached.floor(flops, 10**11, "tensor16", None) == pytest.approx(23_436, rel=1e-3)
    assert reached.floor(flops, 1, "tensor8", None) is None
