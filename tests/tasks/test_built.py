"""Solutions build for the GPU without spilling; fixtures that must not build are refused."""

from pathlib import Path

import pytest

from kernels.catalog import Fixture, TaskFolder
from kernels.contract import Bundle
from kernels.contract.wire import Failure
from tests.build import builds
from tests.tasks.tasks import FOLDERS, SOLUTIONS, fixtures, host_values, short


@pytest.mark.parametrize(("folder", "path"), SOLUTIONS)
def test_solutions_build_and_keep_to_registers(folder: TaskFolder, path: Path) -> None:
    task = short(folder.task)
    bundle = builds.answer(path.read_text(), task, values=host_values(task, folder))
    assert isinstance(bundle, Bundle), bundle
    assert [case.case for case in bundle.plan.cases] == [case.name for case in task.cases]
    kernels = bundle.plan.kernels.values()
    stacks = [(k.function, k.resources.stack_bytes) for k in kernels]
    assert [(name, size) for name, size in stacks if size] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_starter_builds(folder: TaskFolder) -> None:
    task = short(folder.task)
    bundle = builds.answer(folder.starter, task, values=host_values(task, folder))
    assert isinstance(bundle, Bundle), bundle


@pytest.mark.parametrize(("folder", "fixture"), fixtures("build_error", "rejected"))
def test_refused_fixtures_get_their_verdict(folder: TaskFolder, fixture: Fixture) -> None:
    task = short(folder.task)
    failure = builds.answer(fixture.source, task, values=host_values(task, folder))
    assert isinstance(failure, Failure)
    assert failure.verdict == fixture.verdict
