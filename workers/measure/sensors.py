"""What the driver says of the GPU while it is measured; silent where NVML cannot be asked."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernels.contract import Sensed
from workers.measure.estimate import median

_EVERY = 8
"""Rounds."""

_REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "synchronised boost",
    0x20: "thermal slowdown (software)",
    0x40: "thermal slowdown (hardware)",
    0x80: "power brake",
}
"""NVML's clock event reasons; those that only say that the GPU was idle are left out."""


@dataclass(frozen=True)
class Reading:
    """One look at the GPU."""

    clock_hz: float
    """SM clock."""
    power_watts: float
    reasons: int
    """Bits of NVML's clock event reasons."""


class Sensors:
    """Clock, power and throttle reasons of one GPU."""

    def __init__(self, uuid: str) -> None:
        """Open NVML for the GPU of that UUID, as torch gives it."""
        self._nvml: Any = None
        self._handle: Any = None
        try:
            nvml = importlib.import_module("pynvml")
        except ImportError:
            return
        try:
            nvml.nvmlInit()
            name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
            self._handle = nvml.nvmlDeviceGetHandleByUUID(name)
            self._nvml = nvml
        except nvml.NVMLError:
            return

    def read(self) -> Reading | None:
        """The GPU's state now; None where NVML does not answer."""
        if self._nvml is None:
            return None
        nvml, handle = self._nvml, self._handle
        try:
            clock = nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)
            power = nvml.nvmlDeviceGetPowerUsage(handle)
            reasons = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
        except nvml.NVMLError:
            return None
        return Reading(clock * 1e6, power / 1e3, int(reasons))

    def driver(self) -> str | None:
        """Version of the kernel driver."""
        if self._nvml is None:
            return None
        try:
            version = self._nvml.nvmlSystemGetDriverVersion()
        except self._nvml.NVMLError:
            return None
        return version.decode() if isinstance(version, bytes) else str(version)


class Watch:
    """Looks at the GPU in every few rounds of a case's timing."""

    def __init__(self, read: Callable[[], Reading | None]) -> None:
        self._read = read
        self._rounds = 0
        self.readings: list[Reading] = []
        self.rounds: list[int] = []
        """After which round each reading was taken."""

    def after_round(self) -> None:
        """To be called after each round."""
        if self._rounds % _EVERY == 0:
            reading = self._read()
            if reading is not None:
                self.readings.append(reading)
                self.rounds.append(self._rounds)
        self._rounds += 1

    def sensed(self) -> tuple[Sensed, ...]:
        """The readings as a report keeps them."""
        return tuple(
            Sensed(round=number, clock_hz=reading.clock_hz, power_watts=reading.power_watts)
            for number, reading in zip(self.rounds, self.readings, strict=True)
        )


@dataclass(frozen=True)
class Conditions:
    """Under which a case was measured."""

    clock_hz: float | None
    """Median SM clock."""
    highest_clock_hz: float | None
    power_watts: float | None
    """Median."""
    throttled: tuple[str, ...]


def conditions(readings: Sequence[Reading]) -> Conditions:
    """Sum up the readings of a case."""
    if not readings:
        return Conditions(None, None, None, ())
    bits = 0
    for reading in readings:
        bits |= reading.reasons
    clocks = [reading.clock_hz for reading in readings]
    return Conditions(
        clock_hz=median(clocks) or None,
        highest_clock_hz=max(clocks) or None,
        power_watts=median([reading.power_watts for reading in readings]),
        throttled=tuple(name for bit, name in _REASONS.items() if bits & bit),
    )
