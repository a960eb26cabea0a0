"""What the page on the GPU shows: sizes and rates that follow from a device's facts."""

from dataclasses import dataclass

from kernels.contract import Device
from kernels.contract.device import Rate

KERNEL_RATES: dict[Rate, str] = {
    "tensor16": "tensor cores, 16 bits",
    "tensor8": "tensor cores, 8 bits",
    "tf32": "tensor cores, TF32",
    "fp32": "plain fp32",
}
"""Arithmetic units by what a person calls them."""

SIDE, GAP, COLUMNS = 22, 4, 22


@dataclass(frozen=True)
class Anatomy:
    """Numbers of one GPU that its facts imply."""

    register_bytes: int
    """Of one multiprocessor."""
    all_register_bytes: int
    all_shared_bytes: int
    warps: int
    """That one multiprocessor holds."""
    registers_at_full: int
    """That a thread may use while every warp has room."""
    bytes_per_clock: float
    """From memory, for each multiprocessor, at the highest clock."""
    knees: dict[Rate, float]
    """FLOPs for each byte from memory at which a kernel is bound by both."""
    squares: tuple[tuple[int, int], ...]
    """Where the drawing puts the multiprocessors."""


@dataclass(frozen=True)
class Estimate:
    """What bounds a kernel."""

    memory: float
    """Microseconds that its bytes take at the datasheet's bandwidth."""
    arithmetic: float
    """Microseconds that its FLOPs take at the datasheet's peak."""
    intensity: float | None
    """FLOPs for each byte; None where nothing is moved."""

    @property
    def floor(self) -> float:
        """Fewest microseconds it can take."""
        return max(self.memory, self.arithmetic)


def anatomy_of(device: Device) -> Anatomy:
    """Derive them."""
    registers = device.registers_per_sm * 4
    return Anatomy(
        register_bytes=registers,
        all_register_bytes=registers * device.sm_count,
        all_shared_bytes=device.shared_bytes_per_sm * device.sm_count,
        warps=device.threads_per_sm // 32,
        registers_at_full=device.registers_per_sm // device.threads_per_sm,
        bytes_per_clock=device.bandwidth / device.sm_count / device.boost_clock,
        knees={rate: device.nominal_peak[rate] / device.bandwidth for rate in KERNEL_RATES},
        squares=tuple(
            (number % COLUMNS * (SIDE + GAP), number // COLUMNS * (SIDE + GAP))
            for number in range(device.sm_count)
        ),
    )


def estimate(device: Device, flops: float, nbytes: float, rate: Rate) -> Estimate:
    """Time that memory and arithmetic need each, by the datasheet."""
    return Estimate(
        memory=nbytes / device.bandwidth * 1e6,
        arithmetic=flops / device.nominal_peak[rate] * 1e6,
        intensity=flops / nbytes if nbytes else None,
    )
