"""What a statement says of shapes, element types, memory and sizes is what task.toml asks for."""

import pytest

from kernels.catalog import TaskFolder
from kernels.statements import problems
from tests.tasks.tasks import CATALOG, FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_statement_says_what_is_asked_for(folder: TaskFolder) -> None:
    assert list(problems(folder.task, folder.statement)) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "solve(x, w, b, eps)",
            "solve(x)",
            "it does not name `solve(x, w, b, eps)`, what is asked",
        ),
        ("| `x` | M ", "| `x` | K ", "it says that `x` is K "),
        ("| `x` |", "| `z` |", "its table has no row for `x`"),
        (
            "float32, float16 or",
            "float64 or",
            "it says that `x` is of float64 or bfloat16; the cases",
        ),
        (
            "of a row are adjacent",
            "are contiguous",
            "it says that `x` is contiguous in memory; the cases",
        ),
        (
            "| result |",
            "| y |",
            "its table needs one row `result`, with bfloat16, float16, float32",
        ),
        ("1 to 16384", "1 to 8192", "it says that N is from 1 to 8192; in past_8192 it is 8193"),
    ],
)
def test_what_it_says_otherwise_is_told(old: str, new: str, problem: str) -> None:
    folder = CATALOG["layer_norm"]
    assert old in folder.statement
    told = list(problems(folder.task, folder.statement.replace(old, new)))
    assert any(sentence.startswith(problem) for sentence in told), told


def test_an_unaligned_start_must_be_told() -> None:
    folder = CATALOG["vector_add"]
    told = list(problems(folder.task, folder.statement.replace("aligned address", "address")))
    assert "it must say that `x` need not start at an aligned address" in told
