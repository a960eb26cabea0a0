"""Triton's view of the device; what launches kernels comes from whoever runs host code."""

from typing import Any

import torch
from triton.backends.compiler import GPUTarget

from kernels.contract import Device
from workers.facade.placement import CUDA
from workers.facade.properties import WARP, capability, triton_properties
from workers.facade.refusal import Refusal


class DeviceUtils:
    """`driver.active.utils`: facts only."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def get_device_properties(self, _: int = 0) -> dict[str, int]:
        """Facts by the names Triton gives them."""
        return triton_properties(self._device)

    def unload_module(self, _: Any) -> None:
        """Nothing was loaded."""

    def set_printf_fifo_size(self, _: int) -> None:
        """Nothing prints."""

    def cuOccupancyMaxActiveClusters(self, *_: Any) -> int:  # noqa: N802, RUF100  Triton's name
        """Needs a GPU: refused."""
        raise Refusal(
            "occupancy queries need the GPU, which host code does not have",
            "compute the number of programs from the device's properties",
        )


class DeviceDriver:
    """A Triton driver for a device that is not there; `triton.runtime.driver.set_active` takes it.

    It answers questions; launching needs a subclass with `launcher_cls` and a `load_binary`.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self.utils: Any = DeviceUtils(device)

    def get_current_device(self) -> int:
        """Index of the only GPU."""
        return 0

    def set_current_device(self, _: int) -> None:
        """There is no other."""

    def get_current_stream(self, _: int | None = None) -> int:
        """Handle of the only stream."""
        return 0

    def get_device_capability(self, _: int | None = None) -> tuple[int, int]:
        """Compute capability."""
        return capability(self._device)

    def get_current_target(self) -> Any:
        """Triton's compilation target."""
        return GPUTarget("cuda", self._device.capability, WARP)

    def get_active_torch_device(self) -> torch.device:
        """The only GPU."""
        return CUDA

    def get_device_interface(self) -> Any:
        """torch.cuda, as the facade leaves it."""
        return torch.cuda

    def get_benchmarker(self) -> Any:
        """The facade's do_bench."""
        import triton.testing

        return triton.testing.do_bench

    def get_empty_cache_for_benchmark(self) -> None:
        """No cache to clear."""

    def clear_cache(self, _: Any) -> None:
        """No cache to clear."""

    @staticmethod
    def is_active() -> bool:
        """Always."""
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        """C type of an argument, for tools that print signatures."""
        from triton.backends.nvidia.driver import ty_to_cpp

        return str(ty_to_cpp(ty))
