"""Launches of a plan, bound to a case's memory and loaded kernels."""

from collections.abc import Mapping
from typing import Protocol

from kernels.contract import Bundle, Kernel, Launch, PlanRefused
from workers.measure import driver, faults
from workers.measure.parameters import ParameterBlock, pack


class Kernels:
    """The kernels of a plan; each is loaded when it is first needed."""

    def __init__(self, bundle: Bundle) -> None:
        self._kernels: Mapping[str, Kernel] = bundle.plan.kernels
        self._blobs: Mapping[str, bytes] = bundle.blobs
        self._loaded: dict[str, driver.Function] = {}

    def kernel(self, digest: str) -> Kernel:
        """What the plan says of a kernel."""
        return self._kernels[digest]

    def load(self, digest: str) -> driver.Function:
        """The kernel in device memory; PlanRefused if the driver does not take it."""
        if digest not in self._loaded:
            kernel = self._kernels[digest]
            try:
                self._loaded[digest] = driver.Function(self._blobs[digest], kernel)
            except faults.CudaError as error:
                raise PlanRefused(f"{kernel.function} cannot be loaded: {error.name}") from None
        return self._loaded[digest]


class Addresses(Protocol):
    """Where the buffers of a case lie."""

    def address(self, buffer: int, offset: int = 0) -> int:
        """Device address of a byte of a buffer."""

    def take_scratch(self, nbytes: int, alignment: int) -> int:
        """Address of scratch for one launch."""


class BoundLaunch:
    """One launch with its parameters in place."""

    def __init__(self, launch: Launch, kernels: Kernels, memory: Addresses) -> None:
        """Load the kernel and pack its parameters; PlanRefused if they do not fit it."""
        self._function = kernels.load(launch.kernel)
        kernel = self._function.kernel
        self.name = kernel.function
        scratch = 0
        if scratch_bytes(launch, kernel):
            scratch = memory.take_scratch(
                scratch_bytes(launch, kernel), max(kernel.global_scratch_align, 128)
            )
        try:
            parameters = pack(launch.arguments, scratch, memory.address, driver.encode_tensor_map)
        except (faults.CudaError, ValueError) as error:
            where = f" (line {launch.line})" if launch.line else ""
            raise PlanRefused(f"{self.name}{where}: no such tensor map: {error}") from None
        self._parameters = ParameterBlock(parameters)
        self._check_sizes()
        self._config = self._function.configure(launch.grid)

    def run(self) -> None:
        """Launch on the current stream; LaunchRefused or KernelFailed if the driver says so."""
        try:
            self._function.launch(self._config, self._parameters)
        except faults.CudaError as error:
            raise faults.at_launch(error, self.name) from None

    def _check_sizes(self) -> None:
        given = self._parameters.sizes
        wanted = self._function.parameter_sizes(len(given) + 1)
        if given != wanted:
            raise PlanRefused(f"{self.name} takes parameters of {wanted} bytes, not {given}")


def scratch_bytes(launch: Launch, kernel: Kernel) -> int:
    """Global scratch of one launch: so much for every block."""
    x, y, z = launch.grid
    return x * y * z * kernel.ctas * kernel.global_scratch_bytes
