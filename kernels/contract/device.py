"""The GPU models that submissions are built for, with the facts a plan and a roofline rest on."""

from enum import StrEnum
from typing import Literal

from kernels.contract._model import Model

Rate = Literal["tensor16", "tensor8", "tf32", "fp32"]
"""Which arithmetic unit bounds a task: dense tensor cores on 16 or 8 bits, TF32, or plain fp32."""


class DeviceName(StrEnum):
    """A GPU model."""

    H100 = "H100"
    H200 = "H200"


class Device(Model):
    """Facts of one GPU model, from NVIDIA's H100 and H200 SXM datasheets and the CUDA C++ guide."""

    name: DeviceName
    """Model name."""
    full_name: str
    """What the driver calls the SXM part."""
    architecture: Literal["sm_90a"]
    """Target of the compiler."""
    capability: int
    """Compute capability as major * 10 + minor."""
    sm_count: int
    """Streaming multiprocessors."""
    shared_bytes_per_block: int
    """Largest shared memory a block may opt in to, bytes."""
    shared_bytes_per_sm: int
    """Shared memory of one multiprocessor, bytes."""
    registers_per_sm: int
    """32-bit registers of one multiprocessor."""
    threads_per_sm: int
    """Resident threads of one multiprocessor."""
    l2_bytes: int
    """L2 cache, bytes."""
    memory_bytes: int
    """Device memory, bytes."""
    bandwidth: float
    """Nominal memory bandwidth, bytes/s."""
    boost_clock: float
    """Highest SM clock, Hz."""
    nominal_peak: dict[Rate, float]
    """Nominal dense peaks of the datasheet, FLOP/s."""
    flops_per_clock: dict[Rate, int]
    """FLOPs one multiprocessor does in one clock."""

    def peak(self, rate: Rate, clock: float) -> float:
        """FLOP/s the arithmetic unit can reach at an SM clock in Hz."""
        return self.sm_count * self.flops_per_clock[rate] * clock


def _hopper(name: DeviceName, memory_gib: int, bandwidth: float, l2_mib: int) -> Device:
    return Device(
        name=name,
        full_name=f"NVIDIA {name.value}",
        architecture="sm_90a",
        capability=90,
        sm_count=132,
        shared_bytes_per_block=232_448,
        shared_bytes_per_sm=233_472,
        registers_per_sm=65_536,
        threads_per_sm=2048,
        l2_bytes=l2_mib << 20,
        memory_bytes=memory_gib << 30,
        bandwidth=bandwidth,
        boost_clock=1.98e9,
        nominal_peak={"tensor16": 989e12, "tensor8": 1979e12, "tf32": 495e12, "fp32": 67e12},
        flops_per_clock={"tensor16": 4096, "tensor8": 8192, "tf32": 2048, "fp32": 256},
    )


DEVICES: dict[DeviceName, Device] = {
    DeviceName.H100: _hopper(DeviceName.H100, 80, 3.35e12, 50),
    DeviceName.H200: _hopper(DeviceName.H200, 141, 4.8e12, 60),
}
"""Every known device by name."""
