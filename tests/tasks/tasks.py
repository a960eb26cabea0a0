"""The catalogue's submissions, and what the checks make of one where there is no GPU."""

from pathlib import Path
from typing import Any

import pytest

from kernels.catalog import Catalog, Fixture, TaskFolder
from kernels.contract import CaseResult, DeviceName
from kernels.contract.wire import (
    CompareAnswer,
    CompareRequest,
    Failure,
    InputsAnswer,
    InputsRequest,
    InterpretAnswer,
    InterpretRequest,
    Run,
)
from tests.interpret.interpreter import Interpreter
from workers.measure import check

CATALOG = Catalog()
SEED = 20
FOLDERS = [pytest.param(folder, id=name) for name, folder in CATALOG.items()]
SOLUTIONS = [
    pytest.param(folder, path, id=f"{name}-{path.stem}")
    for name, folder in CATALOG.items()
    for path in folder.solutions
]


def fixtures(*verdicts: str) -> list[Any]:
    """Fixtures of those verdicts that show themselves without a GPU, as test parameters."""
    return [
        pytest.param(folder, fixture, id=f"{name}-{fixture.path.stem}")
        for name, folder in CATALOG.items()
        for fixture in folder.fixtures
        if fixture.verdict in verdicts and not fixture.needs_gpu
    ]


def submissions(folder: TaskFolder) -> list[Path]:
    """Every source of a task but its reference."""
    fixtures: tuple[Fixture, ...] = folder.fixtures
    return [folder.path / "starter.py", *folder.solutions, *(f.path for f in fixtures)]


def interpret(
    interpreter: Interpreter, folder: TaskFolder, source: str
) -> tuple[Failure | None, tuple[CaseResult, ...]]:
    """How a submission ends on all interpreted cases, and the comparison of what it completed."""
    task, reference = folder.task, str(folder.reference)
    runs = tuple(
        Run(case=case.name, distribution=distribution, round=0)
        for case in task.cases
        if case.interpreted
        for distribution in task.distributions
    )
    asked = InputsRequest(task=task, reference=reference, seed=SEED, runs=runs)
    _, blobs = InputsAnswer.unpack(check.make_inputs(asked))
    request = InterpretRequest(
        source=source, entry=task.entry, task=task, device=DeviceName.H200, runs=runs
    )
    answer, results = InterpretAnswer.unpack(interpreter.ask(request.pack(tuple(blobs))))
    done = runs[: answer.completed]
    compared = CompareRequest(task=task, reference=reference, seed=SEED, runs=done)
    cases, _ = CompareAnswer.unpack(check.compare_results(compared, results))
    return answer.failure, cases.cases
