"""Every row of the matrix has something that shows it, or a reason."""

import re
from collections.abc import Iterator

from scripts.stack import ROOT
from tests.hostile.rows import FOLDER

MATRIX = (FOLDER / "README.md").read_text()
_RANGE = re.compile(r"([PZ]?)(\d+)(?:-[PZ]?(\d+))?")
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def expand(text: str) -> Iterator[str]:
    """The rows in a list such as `P1, 29-31, Z7`."""
    for kind, first, last in _RANGE.findall(text):
        yield from (f"{kind}{number}" for number in range(int(first), int(last or first) + 1))


def table(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    _, _, text = MATRIX.partition(f"## {heading}\n")
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def rows_of(heading: str) -> set[str]:
    return {row for cells in table(heading) for row in expand(cells[0])}


def submitted(pattern: str) -> set[str]:
    """Rows that the first lines of submissions name."""
    firsts = [path.read_text().split(":", 1)[0] for path in FOLDER.glob(f"submissions/{pattern}")]
    return {row for first in firsts if first.startswith('"""') for row in expand(first)}


def every_row() -> set[str]:
    unused = set(expand(MATRIX.partition("not used:")[2].partition("\n\n")[0]))
    known = {str(number) for number in range(1, 141)} - unused
    return known | set(expand("P1-17")) | set(expand("Z1-162"))


def test_no_row_is_missing() -> None:
    shown = submitted("**/*.py") | rows_of("Shown by other tests")
    assert every_row() == shown | rows_of("Nothing can show these")


def test_what_nothing_can_show_is_shown_by_nothing() -> None:
    shown = submitted("**/*.py") | rows_of("Shown by other tests")
    assert shown & rows_of("Nothing can show these") == set()


def test_every_test_that_is_named_exists() -> None:
    cells = [cells[2] for cells in table("Shown by other tests")]
    named = [_TEST.findall(cell) for cell in cells]
    assert all(named), "a row without a test"
    for path, name in (each for found in named for each in found):
        text = (ROOT / path).read_text()
        assert not name or f"def {name}(" in text, f"{path} has no {name}"


def test_rows_for_a_gpu_have_a_submission_for_it() -> None:
    assert rows_of("Shown only on a GPU") - submitted("gpu/*.py") == set()
