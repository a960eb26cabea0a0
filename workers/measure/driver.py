"""The few calls of the CUDA driver that launching compiled kernels takes, and its errors in words.

Imported only where there is a GPU; the rest of the measurer reaches the GPU through torch.
"""

import ctypes
import time
from typing import Any

import torch
from cuda.bindings import driver as cuda

from kernels.contract import Kernel
from workers.measure.faults import CudaError, KernelHung
from workers.measure.parameters import TENSOR_MAP_BYTES, ParameterBlock, TensorMapEncoding

_SMALL_SHARED = 48 << 10
"""Dynamic shared memory that a block may have without asking."""

_PORTABLE_CLUSTER = 8

PATIENCE = 3.0
"""Seconds that one run may take: over a thousand times what any case needs on a Hopper GPU."""

_SPIN = 0.02
_NAP = 1e-3
"""Seconds; a round of timing ends within the first, and the GPU would idle while we sleep."""


def check(result: tuple[Any, ...]) -> Any:
    """The value of a driver call; CudaError with the driver's name for the error otherwise."""
    status = result[0]
    if status != cuda.CUresult.CUDA_SUCCESS:
        raise CudaError(str(getattr(status, "name", status)))
    return result[1] if len(result) == 2 else result[1:]


def synchronize(patience: float = PATIENCE) -> None:
    """Wait for the current stream; CudaError if a kernel failed, KernelHung if none ends in time.

    A wait of the driver's own has no limit, and nothing stops a kernel but the end of its process.
    """
    stream = torch.cuda.current_stream().cuda_stream
    started = time.monotonic()
    while (status := cuda.cuStreamQuery(stream)[0]) == cuda.CUresult.CUDA_ERROR_NOT_READY:
        waited = time.monotonic() - started
        if waited > patience:
            raise KernelHung(f"a kernel did not end within {patience:.0f} s")
        if waited > _SPIN:
            time.sleep(_NAP)
    check((status,))


def reset_persisting_cache() -> None:
    """Give lines that a kernel asked to keep in L2 back to the others, where that is supported."""
    cuda.cuCtxResetPersistingL2Cache()


def driver_version() -> str:
    """The newest CUDA version that the driver knows, such as 13.0."""
    version = int(check(cuda.cuDriverGetVersion()))
    return f"{version // 1000}.{version % 1000 // 10}"


def encode_tensor_map(encoding: TensorMapEncoding) -> bytes:
    """The 128 bytes of a tensor map; CudaError if the hardware cannot describe it."""
    rank = len(encoding.sizes)
    tensor_map = check(
        cuda.cuTensorMapEncodeTiled(
            cuda.CUtensorMapDataType(encoding.element_type),
            rank,
            encoding.address,
            [cuda.cuuint64_t(size) for size in encoding.sizes],
            [cuda.cuuint64_t(step) for step in encoding.strides],
            [cuda.cuuint32_t(size) for size in encoding.box],
            [cuda.cuuint32_t(1)] * rank,
            cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            cuda.CUtensorMapSwizzle(encoding.swizzle),
            cuda.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            cuda.CUtensorMapFloatOOBfill(int(encoding.nan_fill)),
        )
    )
    return ctypes.string_at(tensor_map.getPtr(), TENSOR_MAP_BYTES)


class Function:
    """A kernel in device memory, ready to launch."""

    def __init__(self, cubin: bytes, kernel: Kernel) -> None:
        """Load it into the current context; CudaError if the driver does not take it."""
        self._cubin = cubin
        self._module = check(cuda.cuModuleLoadData(cubin))
        self._function = check(cuda.cuModuleGetFunction(self._module, kernel.symbol.encode()))
        self.kernel = kernel
        if kernel.resources.shared_bytes > _SMALL_SHARED:
            self._raise_shared_memory()
        if kernel.ctas > _PORTABLE_CLUSTER:
            attribute = cuda.CUfunction_attribute
            self._set(attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)

    def parameter_sizes(self, most: int) -> tuple[int, ...]:
        """Bytes of each parameter as the driver sees them, of at most that many."""
        sizes = []
        for index in range(most):
            status, *place = cuda.cuFuncGetParamInfo(self._function, index)
            if status != cuda.CUresult.CUDA_SUCCESS:
                break
            sizes.append(int(place[1]))
        return tuple(sizes)

    def configure(self, grid: tuple[int, int, int]) -> Any:
        """The launch configuration for a grid of programs."""
        kernel = self.kernel
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid[0] * kernel.ctas, grid[1], grid[2]
        config.blockDimX, config.blockDimY, config.blockDimZ = 32 * kernel.warps, 1, 1
        config.sharedMemBytes = kernel.resources.shared_bytes
        attributes = _attributes(kernel)
        config.attrs = attributes
        config.numAttrs = len(attributes)
        return config

    def launch(self, config: Any, parameters: ParameterBlock) -> None:
        """Launch on torch's current stream; CudaError if the driver refuses."""
        config.hStream = torch.cuda.current_stream().cuda_stream
        check(cuda.cuLaunchKernelEx(config, self._function, parameters.address, 0))

    def _raise_shared_memory(self) -> None:
        attribute = cuda.CUfunction_attribute
        static = check(
            cuda.cuFuncGetAttribute(attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self._function)
        )
        device = check(cuda.cuCtxGetDevice())
        most = check(
            cuda.cuDeviceGetAttribute(
                cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                device,
            )
        )
        # As Triton does: the cache gives way, and the most is allowed whatever is asked for.
        check(
            cuda.cuFuncSetCacheConfig(self._function, cuda.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED)
        )
        self._set(attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - static)

    def _set(self, attribute: Any, value: int) -> None:
        check(cuda.cuFuncSetAttribute(self._function, attribute, value))


def _attributes(kernel: Kernel) -> list[Any]:
    names = cuda.CUlaunchAttributeID
    attributes = []
    if kernel.dependent:
        value = cuda.CUlaunchAttributeValue()
        value.programmaticStreamSerializationAllowed = 1
        name = names.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attributes.append(_attribute(name, value))
    if kernel.cooperative:
        value = cuda.CUlaunchAttributeValue()
        value.cooperative = 1
        attributes.append(_attribute(names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value))
    if kernel.ctas > 1:
        value = cuda.CUlaunchAttributeValue()
        value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = kernel.ctas, 1, 1
        attributes.append(_attribute(names.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value))
        value = cuda.CUlaunchAttributeValue()
        value.clusterSchedulingPolicyPreference = (
            cuda.CUclusterSchedulingPolicy.CU_CLUSTER_SCHEDULING_POLICY_SPREAD
        )
        name = names.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
        attributes.append(_attribute(name, value))
    return attributes


def _attribute(name: Any, value: Any) -> Any:
    attribute = cuda.CUlaunchAttribute()
    attribute.id = name
    attribute.value = value
    return attribute
