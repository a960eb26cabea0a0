"""Fixtures that are made of a solution: what they become, and what is refused."""

from pathlib import Path

import pytest

from kernels.contract import Verdict
from kernels.fixtures import CatalogError, fixtures

SOLUTION = "def solve(x):\n    y = x + 1\n    return y\n"
TOML = """what = "Adds two."
of = "solutions/plain.py"

[[changes]]
old = '''
    y = x + 1
'''
new = '''
    y = x + 2
'''
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "plain.py").write_text(SOLUTION)
    (tmp_path / "verdicts" / "wrong_answer").mkdir(parents=True)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "verdicts" / "wrong_answer" / "two.toml").write_text(text)


def test_a_variation_is_the_solution_with_its_change(folder: Path) -> None:
    write(folder, TOML)
    (fixture,) = fixtures(folder)
    assert fixture.verdict is Verdict.WRONG_ANSWER
    assert fixture.path.stem == "two"
    assert not fixture.needs_gpu
    assert fixture.source == "# Adds two.\ndef solve(x):\n    y = x + 2\n    return y\n"
    write(folder, TOML.replace("\n[[", "needs_gpu = true\n\n[[", 1))
    (fixture,) = fixtures(folder)
    assert fixture.needs_gpu


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("y = x + 1", "y = x + 3", "stands 0 times in solutions/plain.py"),
        ("    y = x + 1\n", "    ", "stands 2 times"),
        ("plain.py", "other.py", "there is no solutions/other.py"),
        ("solutions/plain.py", "../task.toml", "of: "),
        ("what =", "why =", "what: Field required"),
        ("[[changes]]", "[[change]]", "changes: "),
        ("what =", "what", "not valid TOML"),
    ],
)
def test_what_cannot_be_made_is_told(folder: Path, before: str, after: str, told: str) -> None:
    assert before in TOML
    write(folder, TOML.replace(before, after, 1))
    with pytest.raises(CatalogError) as caught:
        list(fixtures(folder))
    assert "verdicts/wrong_answer/two.toml: " in str(caught.value)
    assert told in str(caught.value)
