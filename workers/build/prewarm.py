"""Imported by the build's fork server: makes warm what every submission would pay for.

Without it a softmax takes 2.7 s instead of 0.2 s to build: the first operation under a dispatch
mode imports torch._dynamo and sympy, Triton's cache key hashes all of Triton, and the first
compilation sets up LLVM's passes.
"""

import os
import tempfile
from unittest import mock

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import workers.build.main  # noqa: F401  warm as well
from workers.build import versions
from workers.build.dispatch import RecordingMode
from workers.build.recorder import Recorder

TARGET = GPUTarget("cuda", 90, 32)


@triton.jit  # type: ignore[untyped-decorator]
def _copy(x_ptr, y_ptr, BLOCK_SIZE: tl.constexpr):  # type: ignore[no-untyped-def]
    offsets = tl.arange(0, BLOCK_SIZE)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))


def warm() -> None:
    """Trace one operation of each kind and compile one kernel, in a cache that is thrown away."""
    torch.backends.cpu.get_cpu_capability()  # reads /proc/cpuinfo, which a jail does not have
    with RecordingMode(Recorder(lambda: None), False, list):
        torch.zeros(4, device="meta").contiguous().view(2, 2).clone()
    versions.warm_key()
    source = ASTSource(
        _copy, {"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK_SIZE": "constexpr"}, {(2,): 64}
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, TRITON_CACHE_DIR=folder),
    ):
        triton.compile(source, target=TARGET)


warm()
