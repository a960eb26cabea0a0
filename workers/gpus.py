"""Which GPUs this host has, asked of the driver without opening a CUDA context."""

from dataclasses import dataclass
from typing import Any

from kernels.contract import DEVICES, DeviceName


@dataclass(frozen=True)
class Gpu:
    """One GPU that can measure."""

    index: int
    """In PCI order, from 0."""
    minor: int
    """Of its device node, /dev/nvidia<minor>."""
    uuid: str
    """Names it to CUDA_VISIBLE_DEVICES, also where its device node is the only one to be seen."""
    device: DeviceName
    name: str
    """What the driver calls it."""
    driver: str
    """Version of the driver."""


def find_gpus() -> tuple[list[Gpu], list[str]]:
    """GPUs that this judge measures on, and a note on each one that it leaves alone."""
    try:
        import pynvml
    except ImportError:
        return [], ["nvidia-ml-py is not installed, so no GPU was looked for"]
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return [], [f"no NVIDIA driver answers ({error})"]
    try:
        return _list(pynvml)
    finally:
        pynvml.nvmlShutdown()


def _list(pynvml: object) -> tuple[list[Gpu], list[str]]:
    nvml: Any = pynvml
    found, notes = [], []
    driver = nvml.nvmlSystemGetDriverVersion()
    for index in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        name = nvml.nvmlDeviceGetName(handle)
        device = device_of(name)
        if device is None:
            notes.append(f"GPU {index} ({name}) is no Hopper GPU that this judge knows")
        else:
            try:
                minor = nvml.nvmlDeviceGetMinorNumber(handle)
                uuid = nvml.nvmlDeviceGetUUID(handle)
            except nvml.NVMLError as error:
                notes.append(
                    f"GPU {index} ({name}) does not tell its device node or UUID ({error})"
                )
            else:
                found.append(Gpu(index, minor, uuid, device, name, driver))
    return found, notes


def device_of(name: str) -> DeviceName | None:
    """The device that a driver's name stands for, if it is one of ours."""
    for device in DEVICES.values():
        words = name.split()
        if device.name.value in words and "MIG" not in words:
            return device.name
    return None
