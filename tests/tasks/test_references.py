"""References: exact in double precision, and slack enough for honest rounding alone."""

from pathlib import Path

import pytest
import torch

from kernels.catalog import TaskFolder
from kernels.contract import Case, Distribution
from tests.tasks.tasks import FOLDERS
from workers.measure import inputs
from workers.measure.compare import compare
from workers.measure.reference import load


def small_cases(folder: TaskFolder) -> list[Case]:
    return [case for case in folder.task.cases if case.interpreted]


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("distribution", list(Distribution))
def test_the_exact_result_once_rounded_is_right(
    folder: TaskFolder, distribution: Distribution
) -> None:
    reference = load(str(folder.reference))
    for case in small_cases(folder):
        made = inputs.make(folder.task, case, distribution, 0, 11, reference)
        specs = folder.task.results(case)
        expected = reference.expect(made.arguments, specs)
        results = [e.reference.to(e.baseline.dtype) for e in expected]
        for comparison in compare(specs, results, expected, folder.task.tolerance, "normal"):
            assert comparison.mismatch is None, (case.name, comparison.reason)
        assert all(e.reference.dtype is torch.float64 for e in expected)


@pytest.mark.parametrize("folder", FOLDERS)
def test_zeros_are_never_right(folder: TaskFolder) -> None:
    reference = load(str(folder.reference))
    for case in small_cases(folder):
        made = inputs.make(folder.task, case, Distribution.NORMAL, 0, 11, reference)
        specs = folder.task.results(case)
        expected = reference.expect(made.arguments, specs)
        zeros = [torch.zeros_like(e.baseline) for e in expected]
        comparisons = compare(specs, zeros, expected, folder.task.tolerance, "normal")
        assert all(comparison.reason for comparison in comparisons), case.name


def test_references_import_torch_alone() -> None:
    for folder in (parameter.values[0] for parameter in FOLDERS):
        assert isinstance(folder, TaskFolder)
        imports = [line for line in _lines(folder.reference) if "import" in line.split()]
        assert imports == ["import torch"]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()
