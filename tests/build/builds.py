"""Builds submissions as the jail would, each in a forked child of the tests' process."""

import faulthandler
import hashlib
import os
import re
import tempfile
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import workers.build.prewarm  # noqa: F401  every build forks from warm torch and Triton
from kernels.contract import (
    Bundle,
    Case,
    CasePlan,
    Cost,
    DeviceName,
    Parameter,
    Permissions,
    Task,
    TensorOp,
)
from kernels.contract.wire import BuildAnswer, BuildRequest, Failure
from tests.forked import forked
from workers.build import budget, main

SUBMISSIONS = Path(__file__).parent / "submissions"
COPY = """
import torch
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

def run(x, y):
    copy[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y
"""
"""Beginning of short submissions: `run(x, y)` copies x to y with a kernel."""
AFTER_COPY = COPY.count("\n") + 1
"""Line of the first line of what follows COPY."""


def task(
    inputs: dict[str, tuple[str, ...]],
    outputs: dict[str, tuple[str, ...]],
    *cases: dict[str, Any],
    permissions: Permissions | None = None,
) -> Task:
    """A task over tensors of those shapes; each case gives sizes and a dtype."""
    return Task(
        name="example",
        title="Example",
        summary="An example.",
        inputs=tuple(Parameter(name=name, shape=shape) for name, shape in inputs.items()),
        outputs=tuple(Parameter(name=name, shape=shape) for name, shape in outputs.items()),
        cases=tuple(
            Case(name=f"case_{i}", kind="benchmark", values=values)
            for i, values in enumerate(cases)
        ),
        cost=Cost(flops="1", bytes="1"),
        permissions=permissions or Permissions(),
    )


COPYING = task({"x": ("N",)}, {"y": ("N",)}, {"N": 100, "dtype": "float32"})


def answer(
    source: str,
    asked: Task,
    seconds: float = 60,
    kernel_seconds: float = 60,
    optional_share: float = budget.OPTIONAL_SHARE,
    processors: int = 2,
    values: Sequence[bytes] = (),
) -> Bundle | Failure:
    """What the build answers; no kernel may use more than `kernel_seconds` of processor time.

    `values` are those of the task's host-visible inputs.
    """
    request = BuildRequest(
        source=source, entry=asked.entry, task=asked, device=DeviceName.H200, seconds=seconds
    ).pack(tuple(values))

    def child() -> bytes:
        warnings.simplefilter("ignore")
        faulthandler.disable()  # pytest prints a traceback for crashes that are wanted here
        os.environ["TMPDIR"] = scratch
        main.kernel_seconds = lambda budget: kernel_seconds
        budget.OPTIONAL_SHARE = optional_share
        main.MOST_PROCESSORS = processors
        return main.run(request)

    with tempfile.TemporaryDirectory() as scratch:
        found, blobs = BuildAnswer.unpack(forked(child))
    if found.failure is not None:
        return found.failure
    _keep(request, blobs[0])
    return Bundle.unpack(blobs[0])


def _keep(request: bytes, bundle: bytes) -> None:
    """Write the build down for scripts/gpu_replays.py, if the environment asks for it."""
    folder = os.environ.get("KERNELJUDGE_KEEP_BUILDS")
    if folder:
        test = os.environ["PYTEST_CURRENT_TEST"].split(" ")[0].removeprefix("tests/")
        name = re.sub(r"\W+", "_", test)[:120] + "-" + hashlib.sha256(request).hexdigest()[:8]
        Path(folder, f"{name}.request").write_bytes(request)
        Path(folder, f"{name}.bundle").write_bytes(bundle)


def built(source: str, asked: Task) -> Bundle:
    """The bundle of a submission that must build."""
    found = answer(source, asked)
    assert isinstance(found, Bundle), found
    return found


def plan_of(body: str, asked: Task = COPYING) -> CasePlan:
    """First case's plan of COPY followed by a body."""
    return built(COPY + textwrap.dedent(body), asked).plan.cases[0]


def names(case: CasePlan) -> list[str]:
    """Steps as operation names, `launch` or `choice`."""
    return [step.op if isinstance(step, TensorOp) else step.kind for step in case.steps]


def failed(body: str, asked: Task = COPYING, seconds: float = 60) -> Failure:
    """Failure of COPY followed by a body that must not build."""
    found = answer(COPY + textwrap.dedent(body), asked, seconds)
    assert isinstance(found, Failure), found.plan
    return found


def submission(name: str) -> str:
    """Source of a file in the folder `submissions`."""
    return (SUBMISSIONS / f"{name}.py").read_text(encoding="utf-8")
