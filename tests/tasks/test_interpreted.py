"""Solutions are right on the interpreter, and fixtures wrong in the way they say."""

from pathlib import Path
from typing import Any

import pytest

from kernels.catalog import Fixture, TaskFolder
from kernels.contract import Verdict
from tests.interpret.interpreter import Interpreter
from tests.tasks.tasks import FOLDERS, IN_FULL, SOLUTIONS, fixtures, interpret


def in_full_and_half() -> list[Any]:
    """Fixtures of too low a precision, of the tasks that are tested in full."""
    return [
        case
        for case in fixtures("wrong_answer")
        if str(case.id).startswith(IN_FULL) and "half" in str(case.id)
    ]


@pytest.mark.parametrize(("folder", "path"), SOLUTIONS)
def test_solutions_are_right(interpreter: Interpreter, folder: TaskFolder, path: Path) -> None:
    failure, cases = interpret(interpreter, folder, path.read_text())
    assert failure is None
    assert {case.case for case in cases} == {c.name for c in folder.task.cases if c.interpreted}
    assert {case.verdict for case in cases} == {Verdict.CHECKED}


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_starter_runs_and_is_wrong(interpreter: Interpreter, folder: TaskFolder) -> None:
    failure, cases = interpret(interpreter, folder, folder.starter)
    assert failure is None
    assert Verdict.WRONG_ANSWER in {case.verdict for case in cases}


@pytest.mark.parametrize(
    ("folder", "fixture"), fixtures("wrong_answer", "memory_violation", "runtime_error")
)
def test_fixtures_get_their_verdict(
    interpreter: Interpreter, folder: TaskFolder, fixture: Fixture
) -> None:
    failure, cases = interpret(interpreter, folder, fixture.source)
    found = {case.verdict for case in cases}
    if failure is not None:
        found.add(Verdict(failure.verdict))
    assert fixture.verdict in found
    assert found <= {fixture.verdict, Verdict.CHECKED}


@pytest.mark.parametrize(("folder", "fixture"), in_full_and_half())
def test_low_precision_is_caught_by_more_than_one_case(
    interpreter: Interpreter, folder: TaskFolder, fixture: Fixture
) -> None:
    _, cases = interpret(interpreter, folder, fixture.source)
    assert sum(case.verdict is Verdict.WRONG_ANSWER for case in cases) >= 2
