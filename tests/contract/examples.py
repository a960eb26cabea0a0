"""Small valid values of the contract, to build variants from."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from kernels.contract import (
    Buffer,
    Bundle,
    Case,
    CasePlan,
    Cost,
    DeviceName,
    DType,
    Kernel,
    Launch,
    Parameter,
    Plan,
    PointerArgument,
    Report,
    Resources,
    Target,
    Task,
    Verdict,
    View,
)

CUBIN = b"\x7fELF a cubin"
SHA = hashlib.sha256(CUBIN).hexdigest()
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def task(**changes: Any) -> Task:
    """A softmax of one test and one benchmark case."""
    values: dict[str, Any] = {
        "name": "softmax",
        "title": "Row softmax",
        "summary": "Softmax of each row.",
        "inputs": (Parameter(name="x", shape=("M", "N")),),
        "outputs": (Parameter(name="y", shape=("M", "N")),),
        "cases": (
            Case(name="tiny", kind="test", values={"M": 2, "N": 3, "dtype": DType.FLOAT32}),
            Case(name="wide", kind="benchmark", values={"M": 4, "N": 8, "dtype": DType.FLOAT16}),
        ),
        "cost": Cost(bytes="2*M*N*dtype_bytes"),
    }
    return Task(**(values | changes))


def view(**changes: Any) -> View:
    """All of a 2 x 3 float32 buffer."""
    values: dict[str, Any] = {
        "buffer": 1, "offset": 0, "shape": (2, 3), "strides": (3, 1), "dtype": DType.FLOAT32,
    }  # fmt: skip
    return View(**(values | changes))


def launch(**changes: Any) -> Launch:
    """One program over buffers 0 and 1."""
    values: dict[str, Any] = {
        "kernel": SHA,
        "grid": (1, 1, 1),
        "arguments": (PointerArgument(buffer=0), PointerArgument(buffer=1)),
    }
    return Launch(**(values | changes))


def case_plan(**changes: Any) -> CasePlan:
    """One launch from an input to an output."""
    values: dict[str, Any] = {
        "case": "tiny",
        "buffers": (
            Buffer(nbytes=24, role="input", name="x"),
            Buffer(nbytes=24, role="output"),
        ),
        "steps": (launch(),),
        "outputs": (view(),),
    }
    return CasePlan(**(values | changes))


def kernel(**changes: Any) -> Kernel:
    """A kernel of four warps."""
    resources = Resources(
        registers=32,
        stack_bytes=0,
        spill_store_bytes=None,
        spill_load_bytes=None,
        shared_bytes=0,
        static_shared_bytes=0,
    )
    values: dict[str, Any] = {
        "symbol": "softmax_kernel", "function": "softmax_kernel", "warps": 4, "stages": 3,
        "resources": resources,
    }  # fmt: skip
    return Kernel(**(values | changes))


def plan(**changes: Any) -> Plan:
    """One case, one kernel."""
    values: dict[str, Any] = {
        "target": Target(device=DeviceName.H200, architecture="sm_90a", triton="3.7.1"),
        "kernels": {SHA: kernel()},
        "cases": (case_plan(),),
    }
    return Plan(**(values | changes))


def bundle() -> Bundle:
    """The plan with its one blob."""
    return Bundle(plan=plan(), blobs={SHA: CUBIN})


def report(**changes: Any) -> Report:
    """A submission that did not compile."""
    values: dict[str, Any] = {
        "submission": "s1",
        "attempt": 1,
        "task": "softmax",
        "task_version": 1,
        "device": DeviceName.H200,
        "verdict": Verdict.BUILD_ERROR,
        "reason": "NameError: name 'tl' is not defined",
        "finished_at": NOW,
    }
    return Report(**(values | changes))
