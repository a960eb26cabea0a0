"""References are steady and in double precision, and tolerances tell precisions apart."""

import pytest
import torch

from kernels.catalog import TaskFolder
from tests.tasks.tasks import FOLDERS, IN_FULL
from workers.measure import inputs, selftest
from workers.measure.reference import load


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_wrong_with_a_reference_or_a_tolerance(folder: TaskFolder) -> None:
    task = folder.task
    if task.name not in IN_FULL:
        task = task.model_copy(update={"distributions": task.distributions[:2]})
    assert selftest.problems(task, str(folder.reference), seed=11) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_references_of_floats_are_in_double_precision(folder: TaskFolder) -> None:
    task, reference = folder.task, load(str(folder.reference))
    if reference.accept is not None:
        return
    case = next(case for case in task.cases if case.interpreted)
    made = inputs.make(task, case, task.distributions[0], 0, 11, reference)
    results = task.results(case)
    for spec, expected in zip(results, reference.expect(made.arguments, results), strict=True):
        assert expected.reference.dtype is torch.float64 or not spec.dtype.is_float


@pytest.mark.parametrize("folder", FOLDERS)
def test_references_import_torch_alone(folder: TaskFolder) -> None:
    lines = folder.reference.read_text().splitlines()
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    assert set(imports) <= {"import math", "import torch"}
