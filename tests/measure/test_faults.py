import pytest

from workers.measure.faults import (
    CudaError,
    GpuBroken,
    KernelFailed,
    LaunchRefused,
    at_launch,
    from_torch,
    while_running,
)


def test_a_refused_launch_leaves_the_gpu_usable() -> None:
    fault = at_launch(CudaError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), "softmax")
    assert isinstance(fault, LaunchRefused)
    assert "softmax" in str(fault)
    assert "registers or shared memory" in str(fault)


def test_an_illegal_access_names_its_kernel() -> None:
    fault = while_running(CudaError("CUDA_ERROR_ILLEGAL_ADDRESS"), "softmax")
    assert isinstance(fault, KernelFailed)
    assert "the kernel softmax" in str(fault)
    assert isinstance(at_launch(CudaError("CUDA_ERROR_ASSERT"), "f"), KernelFailed)


@pytest.mark.parametrize("name", ["CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_UNKNOWN", "strange"])
def test_what_no_kernel_causes_is_the_judges_fault(name: str) -> None:
    assert isinstance(while_running(CudaError(name), "f"), GpuBroken)
    assert isinstance(at_launch(CudaError(name), "f"), GpuBroken)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CUDA error: an illegal memory access was encountered\nmore", "ILLEGAL_ADDRESS"),
        ("CUDA error: misaligned address", "MISALIGNED_ADDRESS"),
        ("CUDA error: unspecified launch failure", "LAUNCH_FAILED"),
        ("CUDA error: device-side assert triggered", "ASSERT"),
    ],
)
def test_torchs_words_are_understood(text: str, name: str) -> None:
    assert from_torch(text).name == f"CUDA_ERROR_{name}"


def test_other_words_are_the_judges_fault() -> None:
    fault = while_running(from_torch("CUDA error: uncorrectable ECC error\n" * 100), None)
    assert isinstance(fault, GpuBroken)
    assert len(str(fault)) < 300
