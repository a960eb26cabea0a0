"""Small tasks and submissions, built for real, to be loaded and replayed."""

import tempfile
import time
from pathlib import Path

from kernels.contract import (
    Bundle,
    Case,
    Cost,
    DeviceName,
    DType,
    Parameter,
    Permissions,
    Task,
    Tolerance,
)
from kernels.contract.wire import BuildRequest
from tests.forked import forked

REFERENCE = """
def reference(x):
    return x.double() * 2

def baseline(x):
    return x * 2
"""

HEAD = """
import torch
import triton
import triton.language as tl
"""

DOUBLE = (
    HEAD
    + """
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def solve(x):
    y = torch.empty_like(x)
    double[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""
)


def task(
    permissions: Permissions | None = None, rows: int = 4096, tolerance: Tolerance | None = None
) -> Task:
    """Twice a matrix: one ragged test case, one benchmark case."""
    cases = (
        Case(name="ragged", kind="test", values={"M": 7, "N": 129, "dtype": DType.FLOAT32}),
        Case(name="large", kind="benchmark", values={"M": rows, "N": 2048, "dtype": DType.FLOAT16}),
    )
    return Task(
        name="double",
        title="Double",
        summary="Twice a matrix.",
        inputs=(Parameter(name="x", shape=("M", "N")),),
        outputs=(Parameter(name="y", shape=("M", "N")),),
        cases=cases,
        cost=Cost(bytes="2*M*N*dtype_bytes", rate="fp32"),
        permissions=permissions or Permissions(),
        tolerance=tolerance or Tolerance(),
    )


def built(source: str, task_: Task | None = None) -> bytes:
    """The packed bundle of a submission; built in a forked child."""
    return forked(lambda: _build(source, task_ or task()).pack())


def _build(source: str, task_: Task) -> Bundle:
    import workers.build.prewarm  # noqa: F401
    from workers.build.main import build

    request = BuildRequest(
        source=source, entry="solve", task=task_, device=DeviceName.H200, seconds=60
    )
    return build(request, Path(tempfile.mkdtemp()), time.monotonic())
