"""The catalogue's submissions, and what the checks make of one where there is no GPU."""

from pathlib import Path
from typing import Any

import pytest

from kernels.catalog import Catalog, TaskFolder
from kernels.contract import CaseResult, DeviceName, Task
from kernels.contract.wire import (
    CompareAnswer,
    CompareRequest,
    Failure,
    HostValuesAnswer,
    HostValuesRequest,
    InputsAnswer,
    InputsRequest,
    InterpretAnswer,
    InterpretRequest,
    Run,
)
from tests.interpret.interpreter import Interpreter
from workers.measure import check

CATALOG = Catalog()
IN_FULL = ("softmax", "matmul")
"""Memory-bound and compute-bound: these show every verdict, with every case and distribution."""
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


def submissions(folder: TaskFolder) -> dict[Path, str]:
    """Every source of a task but its reference, by its file."""
    whole = {path: path.read_text() for path in (folder.path / "starter.py", *folder.solutions)}
    return whole | {fixture.path: fixture.source for fixture in folder.fixtures}


def host_values(task: Task, folder: TaskFolder) -> tuple[bytes, ...]:
    """Bytes of the inputs that host code may read, in those of the folder's cases."""
    request = HostValuesRequest(task=task, reference=str(folder.reference))
    return tuple(HostValuesAnswer.unpack(check.make_host_values(request))[1])


def interpret(
    interpreter: Interpreter, folder: TaskFolder, source: str
) -> tuple[Failure | None, tuple[CaseResult, ...]]:
    """How a submission ends on all interpreted cases, and the comparison of what it completed."""
    task, reference, runs = folder.task, str(folder.reference), _runs(folder.task)
    asked = InputsRequest(task=task, reference=reference, seed=SEED, runs=runs)
    _, blobs = InputsAnswer.unpack(check.make_inputs(asked))
    request = InterpretRequest(
        source=source, entry=task.entry, task=task, device=DeviceName.H200, runs=runs
    )
    answer, results = InterpretAnswer.unpack(interpreter.ask(request.pack(tuple(blobs))))
    done = answer.with_results(runs)
    compared = CompareRequest(task=task, reference=reference, seed=SEED, runs=done)
    cases, _ = CompareAnswer.unpack(check.compare_results(compared, results))
    return answer.failure, cases.cases


def short(task: Task) -> Task:
    """The task with what tests build of it: the first test case and the first benchmark case."""
    kinds = {case.kind: case for case in reversed(task.cases)}
    return task.model_copy(update={"cases": tuple(kinds.values())})


def _runs(task: Task) -> tuple[Run, ...]:
    """Interpreted cases: on all distributions, or each on the first and on one more in turn."""
    runs = []
    for place, case in enumerate(case for case in task.cases if case.interpreted):
        first, *others = task.distributions
        if task.name not in IN_FULL:
            others = others[place % len(others) :][:1] if others else []
        runs += [Run(case=case.name, distribution=each, round=0) for each in (first, *others)]
    return tuple(runs)
