"""The Triton driver that records launches instead of making them."""

import hashlib
from collections.abc import Callable
from operator import index
from typing import Any

import torch
from pydantic import ValidationError

from kernels.contract import Device, Launch, cubin
from workers.build import arguments
from workers.build.advice import remedy
from workers.build.failures import problem
from workers.build.kernels import KernelTable, function_name
from workers.build.recorder import Recorder
from workers.facade import DeviceDriver
from workers.facade.driver import DeviceUtils

_REGISTER_UNIT = 8
"""Registers are given out in units of this many per thread."""


class RecordingDriver(DeviceDriver):
    """Compiled kernels are loaded into a table and launched into a recorder."""

    def __init__(self, device: Device, recorder: Recorder, kernels: KernelTable) -> None:
        super().__init__(device)
        binaries: dict[str, bytes] = {}
        self.utils = RecordingUtils(device, kernels, binaries)

        def launcher(source: Any, metadata: Any) -> Callable[..., None]:
            return Launcher(recorder, kernels, binaries, source, metadata)

        self.launcher_cls = launcher


class RecordingUtils(DeviceUtils):
    """`driver.active.utils` with a loader that reads instead of loading."""

    def __init__(self, device: Device, kernels: KernelTable, binaries: dict[str, bytes]) -> None:
        super().__init__(device)
        self._kernels = kernels
        self._binaries = binaries

    def load_binary(
        self, name: str, binary: bytes, shared: int, device: int
    ) -> tuple[str, str, int, int, int]:
        """Module, function, registers, spilled words and most threads, as Triton wants them."""
        found = self._kernels.facts(name, binary)
        handle = hashlib.sha256(binary).hexdigest()
        self._binaries[handle] = binary
        registers = max(-(-found.registers // _REGISTER_UNIT) * _REGISTER_UNIT, 1)
        threads = self._device.registers_per_sm // registers // 32 * 32
        return handle, handle, found.registers, found.stack_bytes // 4, max(32, min(1024, threads))


class Launcher:
    """Called by Triton with a grid and arguments; writes a launch into the recorder."""

    def __init__(
        self,
        recorder: Recorder,
        kernels: KernelTable,
        binaries: dict[str, bytes],
        source: Any,
        metadata: Any,
    ) -> None:
        self._recorder = recorder
        self._kernels = kernels
        self._binaries = binaries
        self._source = source
        self._metadata = metadata

    def __call__(
        self,
        grid_x: Any,
        grid_y: Any,
        grid_z: Any,
        stream: Any,
        function: str,
        packed: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *values: Any,
    ) -> None:
        """Record one launch; an empty grid is left out, as Triton does."""
        if enter_hook is not None:
            enter_hook(launch_metadata)
        # Not int(...), which would take a fraction of a program.
        self._record((index(grid_x), index(grid_y), index(grid_z)), function, values)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _record(self, grid: tuple[int, int, int], function: str, values: tuple[Any, ...]) -> None:
        if torch._C._len_torch_function_stack() == 0:
            raise self._recorder.refused(
                "a kernel was launched where it cannot be written down, as within torch.func.vmap",
                "launch kernels from the function itself or from threading.Thread",
            )
        if min(grid) <= 0:
            return
        binary, name = self._binaries[function], function_name(self._source)
        digest = self._kernels.add(self._source, self._metadata, binary)
        signature = tuple(self._source.signature.values())
        try:
            launch = Launch(
                kernel=digest,
                grid=grid,
                arguments=arguments.encode(self._recorder, signature, values, self._metadata),
                line=self._recorder.line(),
            )
        except ValidationError as error:
            reason = f"launch of {name}: {problem(error)}"
            raise self._recorder.refused(reason, remedy(reason)) from None
        cubin.check_launch(launch, self._kernels.facts(self._metadata.name, binary), name)
        self._recorder.emit(launch)
