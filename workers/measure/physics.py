"""The hardware's floor under a case, and what is too fast to be true."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kernels.contract import Device
from kernels.contract.device import Rate

_LATENCY_FLOOR = 2.0
"""Microseconds; below it launching a kernel costs more than its work."""

_CACHE_SPEEDUP = 4.0
"""L2 is at most so many times faster than memory: nothing moves its bytes quicker than this."""

_MARGIN = 0.95
"""Clocks and timers are not exact; nearer to the bound than this nobody is accused."""


@dataclass(frozen=True)
class Floor:
    """Least time the hardware takes for the work of a case."""

    microseconds: float
    bound: Literal["memory", "compute", "latency"]


def floor(device: Device, flops: int, nbytes: int, rate: Rate, clock_hz: float | None) -> Floor:
    """From nominal bandwidth and from the peak at the clock read (the highest if none was)."""
    memory = nbytes / device.bandwidth * 1e6
    compute = flops / device.peak(rate, clock_hz or device.boost_clock) * 1e6
    longest = max(memory, compute)
    if longest < _LATENCY_FLOOR:
        return Floor(longest, "latency")
    return Floor(longest, "memory" if memory >= compute else "compute")


def nearest_product(flops: float, sizes: Sequence[int]) -> int:
    """The size whose product of square matrices is nearest in work, by ratio, to so many FLOPs."""
    return min(sizes, key=lambda size: abs(math.log(max(flops, 1) / (2 * size**3))))


CLOCKS_APART = (0.03, 1.0)
"""By what share, or by how many microseconds, two clocks may differ. On an H200 they were 0.4 %
apart at most over 64 timings of matrix products, and 0.6 us over kernels from 2 us to 5 ms."""


def clocks_agree(first: float, second: float) -> bool:
    """Whether two independent clocks tell the same, both in microseconds."""
    share, microseconds = CLOCKS_APART
    return abs(first - second) <= max(share * first, microseconds)


def impossible_below(
    device: Device, flops: int, nbytes: int, rate: Rate, highest_clock_hz: float | None
) -> float:
    """Microseconds that no honest kernel undercuts.

    What is written may still lie in L2 when a kernel ends, so that much traffic is taken as free.
    The clock is the highest that was read.
    """
    clock = max(highest_clock_hz or 0.0, 0.0) or device.boost_clock
    uncached = max(nbytes - device.l2_bytes, 0) / device.bandwidth
    cached = nbytes / (device.bandwidth * _CACHE_SPEEDUP)
    compute = flops / device.peak(rate, clock)
    return _MARGIN * 1e6 * max(uncached, cached, compute)
