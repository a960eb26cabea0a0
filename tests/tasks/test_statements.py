"""What a statement says of shapes, element types, memory and sizes is what task.toml asks for."""

import re

import pytest

from kernels.catalog import TaskFolder
from kernels.contract import DType, Layout
from tests.tasks.tasks import FOLDERS

MEMORY = {
    "contiguous": {Layout.CONTIGUOUS},
    "kernels read them": {Layout.CONTIGUOUS},
    "row-major": {Layout.CONTIGUOUS},
    "stored transposed": {Layout.TRANSPOSED},
    "adjacent": {Layout.CONTIGUOUS, Layout.PADDED},
    "any strides": {Layout.CONTIGUOUS, Layout.PADDED, Layout.TRANSPOSED},
}
ROW = re.compile(r"^\| (.+?) \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)
RANGE = re.compile(
    r"((?:\w+, )*\w+(?: and \w+)?) (?:is|are) anything from (\d+) (?:to ([\d,^]+)|on)"
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_inputs_are_as_the_statement_says(folder: TaskFolder) -> None:
    said, cases = _rows(folder.statement), folder.task.cases
    for parameter in folder.task.inputs:
        if parameter.shape is None:
            continue
        shape, dtypes, memory = said[parameter.name]
        assert _sizes(shape) == ["".join(size.split()) for size in parameter.shape], parameter.name
        asked = {str(case.values.get(parameter.dtype, parameter.dtype)) for case in cases}
        assert _dtypes(dtypes) == asked, parameter.name
        layouts = {case.layouts.get(parameter.name, Layout.CONTIGUOUS) for case in cases}
        assert layouts - {Layout.OFFSET} <= MEMORY[memory], parameter.name
        if Layout.OFFSET in layouts:
            assert "start at an aligned address" in " ".join(folder.statement.split())


@pytest.mark.parametrize("folder", FOLDERS)
def test_results_have_the_element_type_that_is_said(folder: TaskFolder) -> None:
    [(_, dtypes, _)] = [row for name, row in _rows(folder.statement).items() if "result" in name]
    results = [spec for case in folder.task.cases for spec in folder.task.results(case)]
    assert _dtypes(dtypes) == {str(spec.dtype) for spec in results}


@pytest.mark.parametrize("folder", FOLDERS)
def test_sizes_are_within_what_is_said(folder: TaskFolder) -> None:
    for case in folder.task.cases:
        for name, (least, most) in _bounds(folder.statement).items():
            value = case.values.get(name)
            sizes = value if isinstance(value, tuple) else (value,)
            assert all(isinstance(size, int) and least <= size <= most for size in sizes), name


def _rows(statement: str) -> dict[str, tuple[str, str, str]]:
    """Of each tensor in the table: shape, element type, and the word for how it lies in memory."""
    rows: dict[str, tuple[str, str, str]] = {}
    last = ""
    for names, shape, dtypes, memory in ROW.findall(statement):
        last = next((word for word in MEMORY if word in memory), last)
        for name in [names] if "result" in names else re.findall(r"`(\w+)`", names):
            other = re.match(r"that of `(\w+)`", dtypes)
            rows[name] = (shape, other[0] if other else dtypes, last)
    return {
        name: (shape, rows[dtypes[9:-1]][1] if dtypes.startswith("that of") else dtypes, memory)
        for name, (shape, dtypes, memory) in rows.items()
    }


def _sizes(shape: str) -> list[str]:
    """A shape of the statement, each size as task.toml writes it."""
    plain = shape.removeprefix("a list of ").replace("[g]", "").replace("/", "//")
    return re.findall(r"[\w/]+", plain)


def _dtypes(text: str) -> set[str]:
    return set(re.findall("|".join(rf"\b{dtype}\b" for dtype in DType), text))


def _bounds(statement: str) -> dict[str, tuple[int, int]]:
    """Least and largest value of each size of which the statement says what it may be."""
    bounds: dict[str, tuple[int, int]] = {}
    for names, least, most in RANGE.findall(" ".join(statement.replace("[g]", "").split())):
        base, _, exponent = most.rstrip(",").replace(",", "").partition("^")
        top = int(base or 2**31) ** int(exponent or 1)
        bounds |= dict.fromkeys(re.split(r", | and ", names), (int(least), top))
    return bounds
