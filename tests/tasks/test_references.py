"""References: exact in double precision, and slack enough for honest rounding alone."""

from pathlib import Path

import pytest
import torch

from kernels.catalog import TaskFolder
from kernels.contract import Case, Distribution
from tests.tasks.tasks import FOLDERS
from workers.measure import inputs
from workers.measure.compare import Comparison, compare
from workers.measure.reference import Expected, load


def small_cases(folder: TaskFolder) -> list[Case]:
    return [case for case in folder.task.cases if case.interpreted]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_exact_result_once_rounded_is_right(folder: TaskFolder) -> None:
    for distribution in folder.task.distributions:
        for case in small_cases(folder):
            expected = expect(folder, case, distribution)
            results = [e.reference.to(e.baseline.dtype) for e in expected]
            for comparison in compared(folder, case, results, expected):
                assert comparison.mismatch is None, (case.name, comparison.reason)
            assert all(e.reference.dtype is torch.float64 for e in expected)


@pytest.mark.parametrize("folder", FOLDERS)
def test_zeros_are_never_right(folder: TaskFolder) -> None:
    for case in small_cases(folder):
        expected = expect(folder, case, folder.task.distributions[0])
        zeros = [torch.zeros_like(e.baseline) for e in expected]
        comparisons = compared(folder, case, zeros, expected)
        assert all(
            comparison.reason
            for comparison, e in zip(comparisons, expected, strict=True)
            if bool(e.reference.any())
        ), case.name


def expect(folder: TaskFolder, case: Case, distribution: Distribution) -> tuple[Expected, ...]:
    reference = load(str(folder.reference))
    made = inputs.make(folder.task, case, distribution, 0, 11, reference)
    return reference.expect(made.arguments, folder.task.results(case))


def compared(
    folder: TaskFolder, case: Case, results: list[torch.Tensor], expected: tuple[Expected, ...]
) -> list[Comparison]:
    return compare(folder.task.results(case), results, expected, folder.task.tolerance, "normal")


def test_references_import_torch_alone() -> None:
    for folder in (parameter.values[0] for parameter in FOLDERS):
        assert isinstance(folder, TaskFolder)
        imports = [line for line in _lines(folder.reference) if "import" in line.split()]
        assert imports == ["import torch"]


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()
