"""CUDA's errors: whose fault each is, whether the process survives it, and what it means."""

import re

_MEANING = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": "it read or wrote an address that is not mapped",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "it read or wrote an address that is not a multiple of the "
    "access size",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "it ran an illegal instruction or a trap",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": "it used an address of the wrong memory space",
    "CUDA_ERROR_INVALID_PC": "it jumped to an address that is no code",
    "CUDA_ERROR_HARDWARE_STACK_ERROR": "its call stack overflowed or was damaged",
    "CUDA_ERROR_ASSERT": "a device assertion failed",
    "CUDA_ERROR_LAUNCH_FAILED": "it broke off: a trap, or an access that the hardware refused",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "it took too long",
    "CUDA_ERROR_TENSOR_ADDRESS_ERROR": "a tensor memory address was out of range",
}
"""Errors that a kernel causes while it runs; every one ends the CUDA context."""

_REFUSALS = {
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "it needs more registers or shared memory than a "
    "multiprocessor has",
    "CUDA_ERROR_INVALID_VALUE": "its grid, block or shared memory is outside the limits",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": "its blocks cannot all be resident at once, as a "
    "cooperative launch needs",
    "CUDA_ERROR_INVALID_CLUSTER_SIZE": "its clusters are larger than the hardware can place",
    "CUDA_ERROR_OUT_OF_MEMORY": "the device has too little memory for its local memory",
    "CUDA_ERROR_NOT_SUPPORTED": "the device does not support what it asks for",
}
"""Errors of a launch that never started; the process goes on."""

_RUNTIME_WORDS = {
    "illegal memory access": "CUDA_ERROR_ILLEGAL_ADDRESS",
    "misaligned address": "CUDA_ERROR_MISALIGNED_ADDRESS",
    "illegal instruction": "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "invalid program counter": "CUDA_ERROR_INVALID_PC",
    "device-side assert": "CUDA_ERROR_ASSERT",
    "unspecified launch failure": "CUDA_ERROR_LAUNCH_FAILED",
    "hardware stack error": "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "operation not supported on global/shared address space": "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "the launch timed out": "CUDA_ERROR_LAUNCH_TIMEOUT",
}
"""What torch prints of them."""


class CudaError(Exception):
    """A call of the driver failed; the text is the driver's name for the error."""

    @property
    def name(self) -> str:
        """Such as CUDA_ERROR_ILLEGAL_ADDRESS."""
        return str(self.args[0])


class LaunchRefused(Exception):
    """A kernel could not be started; the text is one sentence."""


class KernelFailed(Exception):
    """A kernel failed while it ran, and the CUDA context with it; the text is one sentence."""


class KernelHung(Exception):
    """A kernel does not end, and only the end of the process ends it; the text is one sentence."""


class GpuBroken(Exception):
    """The GPU or its driver failed in a way that no kernel causes: the judge's fault."""


def at_launch(error: CudaError, function: str) -> LaunchRefused | KernelFailed | GpuBroken:
    """What a failed launch of a kernel function means."""
    if error.name in _MEANING:
        return while_running(error, function)
    if error.name not in _REFUSALS:
        return GpuBroken(f"the launch of {function} failed: {error.name}")
    return LaunchRefused(
        f"the kernel {function} could not be launched: {_REFUSALS[error.name]} ({error.name})"
    )


def while_running(error: CudaError, function: str | None) -> KernelFailed | GpuBroken:
    """What a failed wait for kernels means; the function is None where several might be it."""
    if error.name not in _MEANING:
        return GpuBroken(f"the GPU failed: {error.name}")
    kernel = f"the kernel {function}" if function else "a kernel"
    return KernelFailed(f"{kernel} failed on the GPU: {_MEANING[error.name]} ({error.name})")


def from_torch(text: str) -> CudaError:
    """The driver's name for an error that torch reports in words."""
    for words, name in _RUNTIME_WORDS.items():
        if words in text:
            return CudaError(name)
    first = re.sub(r"\s+", " ", text)[:200]
    return CudaError(f"unknown: {first}")
