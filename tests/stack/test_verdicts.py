"""A solution of each kind, and of one task a fixture of each verdict, go through the real stack.

tests/tasks checks the others without a service, but for those that end in a timeout.
"""

from pathlib import Path

import pytest

from kernels.catalog import Catalog, Fixture
from kernels.contract import Verdict
from scripts.stack import Stack

CATALOG = Catalog()
SOLUTIONS = [
    (name, CATALOG[name].path / "solutions" / f"{solution}.py")
    for name, solution in (("softmax", "fused"), ("matmul", "grouped"))
]


def _fixtures() -> list[Fixture]:
    """The first of each verdict, and every one that times out."""
    known = [fixture for fixture in CATALOG["softmax"].fixtures if not fixture.needs_gpu]
    endless = [fixture for fixture in known if fixture.verdict == Verdict.TIMEOUT]
    first = {fixture.verdict: fixture for fixture in reversed(known)}
    return [one for one in first.values() if one not in endless] + endless


@pytest.mark.parametrize(
    ("task", "path"), SOLUTIONS, ids=lambda value: getattr(value, "stem", value)
)
def test_solutions_are_checked(stack: Stack, task: str, path: Path) -> None:
    detail = stack.submit(task, path.read_text(), wait=600)
    assert (detail["verdict"], detail["reason"]) == ("checked", "")
    report = detail["report"]
    assert report["kernels"]
    assert report["caveats"]
    assert {case["verdict"] for case in report["cases"]} == {"checked"}
    said = [stage["detail"] for stage in detail["stages"]]
    assert any(f"for {len(CATALOG[task].task.cases)} cases in" in line for line in said)
    assert f"checking {len(report['cases'])} cases on the CPU interpreter" in said


@pytest.mark.parametrize("fixture", _fixtures(), ids=lambda fixture: fixture.path.stem)
def test_fixtures_get_their_verdict(stack: Stack, fixture: Fixture) -> None:
    detail = stack.submit("softmax", fixture.source, wait=600)
    assert detail["verdict"] == fixture.verdict
    assert detail["reason"]
