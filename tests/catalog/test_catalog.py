"""The catalogue reads task folders and says what is wrong with one."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernels.catalog import Catalog, CatalogError, UnknownTask
from kernels.contract import Verdict

TOML = """
title = "Copy"
summary = "Copy a vector."
inputs = [{ name = "x", shape = ["N"] }]
outputs = [{ name = "y", shape = ["N"] }]

[[cases]]
name = "one"
kind = "benchmark"
values = { N = 4, dtype = "float32" }

[cost]
bytes = "2*N*dtype_bytes"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A task folder with all it needs."""
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "task.toml").write_text(TOML)
    for name in ("statement.md", "reference.py", "starter.py"):
        (folder / name).write_text(f"content of {name}")
    return folder


def refusal(root: Path) -> str:
    with pytest.raises(CatalogError) as caught:
        Catalog(root)
    return str(caught.value)


def test_a_task_is_named_by_its_folder(folder: Path) -> None:
    catalog = Catalog(folder.parent)
    assert list(catalog) == ["copy"]
    assert catalog["copy"].task.name == "copy"
    assert catalog["copy"].task.bytes(catalog["copy"].task.case("one")) == 32


def test_files_are_found(folder: Path) -> None:
    for name in ("solutions/b.py", "solutions/a.py", "verdicts/unstable/c.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("# Races.\n# needs: gpu\n")
    found = Catalog(folder.parent)["copy"]
    assert found.statement == "content of statement.md"
    assert found.starter == "content of starter.py"
    assert found.reference == folder / "reference.py"
    assert [path.name for path in found.solutions] == ["a.py", "b.py"]
    (fixture,) = found.fixtures
    assert fixture.verdict is Verdict.UNSTABLE
    assert fixture.needs_gpu
    assert fixture.source.startswith("# Races.")


def test_a_fixture_needs_no_gpu_unless_it_says_so(folder: Path) -> None:
    path = folder / "verdicts" / "rejected" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text('# Says "needs: gpu" in a sentence.\n')
    (fixture,) = Catalog(folder.parent)["copy"].fixtures
    assert not fixture.needs_gpu


def test_an_unknown_task_is_told_with_those_that_exist(folder: Path) -> None:
    with pytest.raises(UnknownTask, match="no task is called 'paste'; there are copy"):
        Catalog(folder.parent)["paste"]
    assert Catalog(folder.parent).get("paste") is None


def test_an_empty_folder_is_no_catalogue(tmp_path: Path) -> None:
    assert "no task" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["statement.md", "reference.py", "starter.py"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"copy/{name}: missing" in refusal(folder.parent)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('title = "Copy"', "title =", "not valid TOML"),
        ('title = "Copy"', "", "title: Field required"),
        ('title = "Copy"', 'name = "copy"\ntitle = "Copy"', "name: the folder names the task"),
        ('title = "Copy"', 'title = "Copy"\ncolour = 3', "colour: Extra inputs are not permitted"),
        ('kind = "benchmark"', 'kind = "exam"', "cases.'one'.kind"),
        ('kind = "benchmark"', 'kind = "test"', "no benchmark case"),
        ('dtype = "float32"', 'dtype = "float31"', "cases.'one'.values.dtype"),
        ("2*N*dtype_bytes", "2*M", "unknown name 'M'"),
        ("2*N*dtype_bytes", "N - 2*N", "not below 0"),
        ("2*N*dtype_bytes", "N - N", "a benchmark must cost some FLOPs or bytes"),
        (
            'kind = "benchmark"',
            'kind = "benchmark"\nlayouts = { z = "offset" }',
            "no input tensor z",
        ),
    ],
)
def test_a_mistake_is_told_with_file_and_field(
    folder: Path, before: str, after: str, told: str
) -> None:
    assert before in TOML
    (folder / "task.toml").write_text(TOML.replace(before, after))
    message = refusal(folder.parent)
    assert "copy/task.toml" in message
    assert told in message


def test_a_verdict_that_does_not_exist_is_told(folder: Path) -> None:
    path = folder / "verdicts" / "incorrect" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text("")
    message = refusal(folder.parent)
    assert "incorrect: no such verdict; there are " in message
    assert "rejected, build_error" in message


@pytest.mark.parametrize("place", ["verdicts/a.toml", "verdicts/a.py", "solutions/a.toml"])
def test_a_fixture_in_no_verdict_s_folder_is_told(folder: Path, place: str) -> None:
    path = folder / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    assert f"{place}: would not be judged; move it into verdicts/" in refusal(folder.parent)


def test_no_task_is_imported() -> None:
    code = (
        "import sys, kernels.catalog\n"
        "for folder in kernels.catalog.Catalog().values():\n"
        "    folder.solutions, folder.fixtures, folder.statement, folder.starter\n"
        "assert 'torch' not in sys.modules and 'triton' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
