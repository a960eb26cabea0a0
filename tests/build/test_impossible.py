"""What cannot work in a process without a GPU: each gets the error that says so, and a remedy."""

import pytest
import torch

from kernels.contract.wire import Failure
from tests.build.builds import AFTER_COPY, failed

RAW_MAPS = "use triton.tools.tensor_descriptor.TensorDescriptor.from_tensor"
IN_A_KERNEL = "decide by shapes, strides and dtypes, or do it inside a kernel"
NCCL = torch.distributed.is_nccl_available()
PASTE = "a submission has Python's standard library, numpy, torch and triton: paste the rest"


def told(failure: Failure) -> tuple[str, int | None, str]:
    """Reason, line of what follows COPY, and remedy."""
    first = failure.diagnostics[0]
    line = None if first.line is None else first.line - AFTER_COPY + 1
    return failure.reason, line, first.remedy or ""


@pytest.mark.parametrize(
    ("body", "verdict", "reason", "remedy"),
    [
        ("import triton.tools.experimental_descriptor", "build_error", "No module", RAW_MAPS),
        ("triton.runtime.driver.active.utils.fill_2d_tma_descriptor", "build_error", "fill_2d",
         RAW_MAPS),
        ("import triton.ops", "build_error", "No module named 'triton.ops'", "paste the kernel"),
        ("import cupynumeric", "build_error", "No module named 'cupynumeric'", PASTE),
        ("import ctypes; ctypes.CDLL('libcudart.so.7')", "build_error", "libcudart.so.7",
         "launch Triton kernels only"),
        pytest.param(
            "torch.distributed.init_process_group('nccl', 'tcp://127.0.0.1:1', None, 1, 0)",
            "build_error", "NCCL", "one GPU and no network",
            marks=pytest.mark.skipif(NCCL, reason="NCCL begins without peers"),
        ),
        ("triton.runtime.driver.active.utils.cuOccupancyMaxActiveClusters()", "rejected",
         "occupancy queries need the GPU", "from the device's properties"),
        ("torch.empty(1, device='cuda:1')", "rejected", "cuda:1 does not exist", "device 'cuda'"),
        ("torch.utils.dlpack.to_dlpack(x)", "rejected", "handed to another library",
         "launch Triton kernels only"),
        ("import pickle; pickle.dumps(x)", "rejected", "reads the values", IN_A_KERNEL),
        ("import io; torch.save(x, io.BytesIO())", "rejected", "reads the values", IN_A_KERNEL),
        ("x.to_sparse()", "rejected", "torch.to_sparse is not allowed", "as a Triton kernel"),
        ("x[torch.empty(100, device=0, dtype=torch.bool)]", "rejected",
         "torch.index reads the values", IN_A_KERNEL),
        ("torch.bincount(x.int())", "rejected", "torch.bincount reads the values", IN_A_KERNEL),
        ("torch.allclose(x, x)", "rejected", "torch.allclose reads the values", IN_A_KERNEL),
        ("torch.repeat_interleave(x.int())", "rejected", "reads the values", IN_A_KERNEL),
        ("copy[(x[0],)](x, x, 3, BLOCK=64)", "rejected", "used as an index", IN_A_KERNEL),
        ("torch.ops.features.external(x)", "rejected", "no Python implementation for CUDA",
         "from plain Python"),
        ("copy[(1,)](x, torch.empty_like(x, device='meta'), 3, BLOCK=64)", "build_error",
         "on torch's meta device", "device='cuda'"),
        ("copy[(1,)](torch.ones(3), x, 3, BLOCK=64)", "build_error", "(cpu tensor?)", ".cuda()"),
        ("copy[(1,)]([x], x, 3, BLOCK=64)", "build_error", "type: list", "a tuple"),
        ("import numpy; copy[(1,)](x, x, numpy.int32(3), BLOCK=64)", "build_error", "numpy.int32",
         "int(...)"),
        ("copy[(1,)](x, x, 3, 64).shared", "build_error", "'shared'", "kernel.metadata.shared"),
        ("copy(x, x, 3, 64)", "build_error", "outside of the scope", "kernel[grid](...)"),
    ],
)  # fmt: skip
def test_host_code(body: str, verdict: str, reason: str, remedy: str) -> None:
    library = """
library = torch.library.Library("features", "DEF")
library.define("external(Tensor x) -> Tensor")
"""
    failure = failed(f"{library}def solve(x):\n    {body}\n    return x")
    found, line, advice = told(failure)
    assert failure.verdict == verdict
    assert reason in found
    assert remedy in advice
    assert line == 5


@pytest.mark.parametrize(
    ("line", "reason", "remedy"),
    [
        ("tl.dot(tile, tile, trans_b=True)", "unexpected keyword argument 'trans_b'", "tl.trans"),
        ("tl.store(pair, 0.0)", "'tuple_type' object has no attribute", "a comma too many"),
    ],
)
def test_kernels_of_older_tritons(line: str, reason: str, remedy: str) -> None:
    failure = failed(f"""@triton.jit
def old(pair, x_ptr):
    tile = tl.zeros([16, 16], tl.float16)
    {line}

def solve(x):
    old[(1,)]((x,), x)
    return x
""")
    assert reason in failure.reason
    assert told(failure)[1] == 4
    assert remedy in told(failure)[2]


def test_a_loop_until_values_converge() -> None:
    failure = failed("""def solve(x):
    y = torch.zeros_like(x)
    while y[0].item() < 1e-3:
        y = run(x, y)
    return y
""")
    assert failure.verdict == "rejected"
    # The zeros are known, until the kernel gets them.
    assert told(failure)[:2] == (
        "tensor.item() reads the values of a device tensor of shape (), which host code cannot "
        "see: it runs before the GPU does",
        3,
    )
