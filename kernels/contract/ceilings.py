"""What one GPU does in practice: the ceilings it reached when its worker started."""

from datetime import datetime

from pydantic import Field

from kernels.contract._model import Model, ShortText
from kernels.contract.device import Device, Rate

CEILINGS_SECONDS = 3.0
"""That taking them may cost at a worker's start."""

_SANE = (0.3, 1.05)
"""Shares of a datasheet's rates between which a Hopper GPU can lie that works."""


class Ceilings(Model):
    """Rates of large, simple work, by the same clock as submissions."""

    copy_bytes_per_second: float = Field(gt=0, le=1e15)
    """Of a kernel that reads 1 GiB and writes as much, both counted."""
    matmul_flops_per_second: float = Field(gt=0, le=1e18)
    """Of torch's product of bfloat16 matrices of 8192, after the power cap has set in."""
    matmul_clock_hz: float | None = Field(None, gt=0, le=1e11)
    """Median SM clock meanwhile."""
    power_watts: float | None = Field(None, ge=0, le=1e5)
    """Median, during the products."""
    throttled: tuple[ShortText, ...] = Field((), max_length=16)
    """Reasons the driver gave for lower clocks during the products."""
    taken_at: datetime

    def problem(self, device: Device) -> str:
        """What no working GPU of that model can have reached, in a sentence; empty if sane."""
        low, high = _SANE
        copy = self.copy_bytes_per_second / device.bandwidth
        clock = self.matmul_clock_hz or device.boost_clock
        matmul = self.matmul_flops_per_second / device.peak("tensor16", clock)
        for share, what in ((copy, "bandwidth"), (matmul, "tensor cores' peak at its clock")):
            if not low <= share <= high:
                return f"a start-up test reached {share:.0%} of the {device.name.value}'s {what}"
        return ""

    def floor(self, flops: int, nbytes: int, rate: Rate, clock_hz: float | None) -> float | None:
        """Microseconds of a case at these rates, arithmetic at the SM clock that was read.

        None for arithmetic of another kind than was measured.
        """
        memory = nbytes / self.copy_bytes_per_second
        if not flops:
            return memory * 1e6
        if rate != "tensor16":
            return None
        speed = self.matmul_flops_per_second
        if clock_hz and self.matmul_clock_hz:
            speed *= clock_hz / self.matmul_clock_hz
        return max(memory, flops / speed) * 1e6
