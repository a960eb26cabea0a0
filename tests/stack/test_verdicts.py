"""Solutions and fixtures that need no GPU get their verdict from the real stack.

Those of two tasks, which stand for memory-bound and compute-bound kernels and show every verdict;
tests/tasks checks the others without a service.
"""

from pathlib import Path

import pytest

from kernels.catalog import Catalog, Fixture
from scripts.stack import Stack

CATALOG = Catalog()
TASKS = ("softmax", "matmul")
SOLUTIONS = [(name, path) for name in TASKS for path in CATALOG[name].solutions]
FIXTURES = [
    (name, fixture) for name in TASKS for fixture in CATALOG[name].fixtures if not fixture.needs_gpu
]


@pytest.mark.parametrize(
    ("task", "path"), SOLUTIONS, ids=lambda value: getattr(value, "stem", value)
)
def test_solutions_are_checked(stack: Stack, task: str, path: Path) -> None:
    detail = stack.submit(task, path.read_text(), wait=120)
    assert (detail["verdict"], detail["reason"]) == ("checked", "")
    report = detail["report"]
    assert report["kernels"]
    assert report["caveats"]
    assert {case["verdict"] for case in report["cases"]} == {"checked"}


@pytest.mark.parametrize(
    ("task", "fixture"), FIXTURES, ids=lambda value: getattr(value, "path", value)
)
def test_fixtures_get_their_verdict(stack: Stack, task: str, fixture: Fixture) -> None:
    detail = stack.submit(task, fixture.source, wait=120)
    assert detail["verdict"] == fixture.verdict
    assert detail["reason"]
