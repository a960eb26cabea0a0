import pytest

from kernels.contract import DEVICES, DeviceName
from workers.measure.physics import clocks_agree, floor, impossible_below, nearest_product

H200 = DEVICES[DeviceName.H200]


def test_a_large_copy_is_bound_by_memory() -> None:
    found = floor(H200, 0, 480_000_000, "fp32", None)
    assert found.bound == "memory"
    assert found.microseconds == pytest.approx(100.0)


def test_a_large_matmul_is_bound_by_arithmetic_at_the_clock_read() -> None:
    flops, nbytes = 2 * 8192**3, 3 * 8192**2 * 2
    fast = floor(H200, flops, nbytes, "tensor16", 1.83e9)
    assert fast.bound == "compute"
    assert fast.microseconds == pytest.approx(flops / 989e12 * 1e6, rel=0.01)
    assert floor(H200, flops, nbytes, "tensor16", 1.5e9).microseconds > fast.microseconds


def test_tiny_work_is_bound_by_latency() -> None:
    assert floor(H200, 1000, 1000, "fp32", 1.98e9).bound == "latency"


@pytest.mark.parametrize(
    ("microseconds", "nbytes"),
    [
        (1.54, 2 * 16 * 256 * 2),
        (2.11, 2 * 256 * 1024 * 2),
        (3.01, 2 * 1024 * 1024 * 2),
        (6.53, 2 * 4096 * 1024 * 2),
        (18.78, 2 * 4096 * 3000 * 2),
        (67.20, 2 * 16384 * 4096 * 2),
    ],
)
def test_no_softmax_measured_on_an_h200_is_impossible(microseconds: float, nbytes: int) -> None:
    assert microseconds > impossible_below(H200, 0, nbytes, "fp32", 1.98e9)


@pytest.mark.parametrize("clock", [1.98e9, 1.485e9])
def test_no_matmul_measured_on_an_h200_is_impossible(clock: float) -> None:
    rate = {1.98e9: 787e12, 1.485e9: 714e12}[clock]
    flops, nbytes = 2 * 8192**3, 3 * 8192**2 * 2
    assert flops / rate * 1e6 > impossible_below(H200, flops, nbytes, "tensor16", clock)


def test_skipped_work_is_impossible() -> None:
    nbytes = 2 * 8192 * 8192 * 2
    full = floor(H200, 0, nbytes, "fp32", None).microseconds
    assert full / 2 < impossible_below(H200, 0, nbytes, "fp32", None)
    flops = 2 * 8192**3
    full = floor(H200, flops, 1, "tensor16", 1.7e9).microseconds
    assert full * 0.9 < impossible_below(H200, flops, 1, "tensor16", 1.7e9)
    assert full > impossible_below(H200, flops, 1, "tensor16", 1.7e9)


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [(2.4, 2.9, True), (2.4, 3.6, False), (100.0, 102.5, True), (1000.0, 1040.0, False)],
)
def test_clocks_agree_within_a_share_or_a_microsecond(
    first: float, second: float, agree: bool
) -> None:
    assert clocks_agree(first, second) == agree


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((1, 1, 1), 2048),
        ((4096, 4096, 4096), 4096),
        ((8192, 8192, 1024), 4096),
        ((8192, 8192, 8192), 8192),
        ((20000, 20000, 20000), 8192),
    ],
)
def test_the_anchor_is_nearest_in_work(shape: tuple[int, int, int], size: int) -> None:
    m, n, k = shape
    assert nearest_product(2 * m * n * k, (2048, 4096, 8192)) == size
