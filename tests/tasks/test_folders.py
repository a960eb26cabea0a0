"""Every task has what a task needs: cases, solutions, fixtures, words."""

import ast

import pytest

from kernels.catalog import TaskFolder
from kernels.contract import Verdict, check_source
from tests.tasks.tasks import CATALOG, FOLDERS, IN_FULL, submissions

EVERY_VERDICT = {
    Verdict.WRONG_ANSWER,
    Verdict.BUILD_ERROR,
    Verdict.REJECTED,
    Verdict.MEMORY_VIOLATION,
    Verdict.RUNTIME_ERROR,
    Verdict.TIMEOUT,
    Verdict.UNSTABLE,
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_there_are_cases_of_every_kind(folder: TaskFolder) -> None:
    cases = folder.task.cases
    assert {case.kind for case in cases} == {"test", "benchmark"}
    assert any(case.interpreted for case in cases)
    assert any(case.layouts for case in cases if case.interpreted)


@pytest.mark.parametrize("folder", FOLDERS)
def test_there_are_solutions_and_wrong_answers(folder: TaskFolder) -> None:
    assert len(folder.solutions) >= 2
    wrong = [fixture for fixture in folder.fixtures if fixture.verdict is Verdict.WRONG_ANSWER]
    assert len(wrong) >= 2


@pytest.mark.parametrize("name", IN_FULL)
def test_tasks_that_stand_for_their_kind_show_every_verdict(name: str) -> None:
    assert {fixture.verdict for fixture in CATALOG[name].fixtures} >= EVERY_VERDICT


@pytest.mark.parametrize("folder", FOLDERS)
def test_fixtures_say_what_they_do(folder: TaskFolder) -> None:
    for fixture in folder.fixtures:
        first = fixture.source.splitlines()[0]
        assert first.startswith("# "), fixture.path
        assert first.endswith("."), fixture.path


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_submission_could_be_submitted(folder: TaskFolder) -> None:
    for path, source in submissions(folder).items():
        check_source(source)
        assert (folder.task.entry in _functions(source)) != (path.stem == "no_entry"), path


def _functions(source: str) -> set[str]:
    body = ast.parse(source).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}
