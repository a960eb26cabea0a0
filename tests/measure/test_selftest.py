"""The self-test of references finds what makes them unfit to judge by."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from kernels.contract import Case, Cost, DType, Parameter, Task, Tolerance
from workers.measure.selftest import problems, rounded

RIGHT = """
import torch
def reference(x): return x.double() * 3
def baseline(x): return x * 3
"""


def task(**changes: Any) -> Task:
    values = {"N": 40, "dtype": DType.FLOAT32}
    settings: dict[str, Any] = {
        "name": "thrice",
        "title": "Thrice",
        "summary": "Times three.",
        "inputs": (Parameter(name="x", shape=("N",)),),
        "outputs": (Parameter(name="y", shape=("N",)),),
        "cases": (
            Case(name="small", kind="test", values=values),
            Case(name="large", kind="benchmark", values=values),
        ),
        "cost": Cost(bytes="N"),
    }
    return Task(**settings | changes)


def found(tmp_path: Path, source: str, task_: Task | None = None) -> str:
    path = tmp_path / "reference.py"
    path.write_text(source)
    return "\n".join(problems(task_ or task(), str(path), seed=3))


def test_a_right_reference_has_no_problem(tmp_path: Path) -> None:
    assert found(tmp_path, RIGHT) == ""


@pytest.mark.parametrize(
    ("right", "problem"),
    [
        ("x.double().abs().clamp(min=1e9) - 1e9 + 5", "takes zeros for x"),
        ("torch.cat([x[:-1].double(), x.new_zeros(1)])", "ignores the end of dimension 0 of x"),
    ],
)
def test_inputs_that_may_be_ignored_are_found(tmp_path: Path, right: str, problem: str) -> None:
    source = f"import torch\ndef reference(x): return {right}\nbaseline = reference\n"
    assert f"no case tells when a submission {problem}" in found(tmp_path, source)


@pytest.mark.parametrize(("size", "problem"), [(40, "takes 45 for n"), (50, "")])
def test_numbers_that_may_be_ignored_are_found(tmp_path: Path, size: int, problem: str) -> None:
    """The number counts only below the size."""
    inputs = Parameter(name="x", shape=("N",)), Parameter(name="n", value="n")
    cases = tuple(
        Case(
            name=f"of_{n}",
            kind=kind,
            values={"N": size, "n": n, "dtype": DType.FLOAT32},
            interpreter=True,
        )
        for n, kind in ((40, "test"), (45, "benchmark"))
    )
    source = """
import torch
def baseline(x, n): return x * 3 + (torch.arange(len(x)) < n)
def reference(x, n): return baseline(x.double(), n)
"""
    problems_ = found(tmp_path, source, task(inputs=inputs, cases=cases))
    assert problem in problems_
    assert bool(problem) == bool(problems_)


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("x.double() * torch.rand(())", "changes from call to call"),
        ("x.double() * 0 + 1", "all elements of y are alike"),
        ("x.double() / 0", "most of y is not finite"),
    ],
)
def test_unfit_references_are_found(tmp_path: Path, reference: str, problem: str) -> None:
    assert problem in found(tmp_path, RIGHT.replace("x.double() * 3", reference))


@pytest.mark.parametrize(
    ("slack", "problem"),
    [("9.0 + 9 * x.double().abs()", "zeros are accepted"), ("x.double().abs() / 50", "half the")],
)
def test_a_rule_that_accepts_too_much_is_found(tmp_path: Path, slack: str, problem: str) -> None:
    assert problem in found(tmp_path, f"{RIGHT}\ndef slack(x): return {slack}\n")


def test_a_rule_that_refuses_rounding_is_found(tmp_path: Path) -> None:
    exact = task(tolerance=Tolerance(ulps=0))
    assert "once rounded, is refused" in found(tmp_path, RIGHT.replace("3", "0.1"), exact)


def test_rounding_keeps_so_many_bits() -> None:
    assert rounded(torch.tensor([1 + 2.0**-5, 3.0, 0.0]), 4).tolist() == [1.0, 3.0, 0.0]


def test_it_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "reference.py"
    path.write_text(RIGHT.replace("x.double() * 3", "x.double() * 0 + 1"))
    request = {"task": task().model_dump(mode="json"), "reference": str(path), "seed": 1}
    answer = subprocess.run(
        [sys.executable, "-m", "workers.measure.selftest"],
        input=json.dumps(request), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "alike" in json.loads(answer.stdout)[0]
