"""House entries are reports like any; those that no longer fit their task are left out."""

import json
import shutil
from pathlib import Path

import pytest

from kernels.catalog import Catalog
from kernels.contract import HARNESS_VERSION, DeviceName
from kernels.records import RECORDS, RecordError, Records

CATALOG = Catalog()
NAME = ("constant_add", DeviceName.H200)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one record."""
    folder = tmp_path / "h200"
    folder.mkdir()
    shutil.copy(RECORDS / "h200" / "constant_add.json", folder)
    return tmp_path


def changed(root: Path, **values: object) -> Path:
    """The record with other values in its report, or beside it."""
    path = root / "h200" / "constant_add.json"
    data = json.loads(path.read_text())
    for name, value in values.items():
        (data if name in data else data["report"])[name] = value
    path.write_text(json.dumps(data))
    return root


def test_those_that_come_with_the_project_can_be_read() -> None:
    records = Records(CATALOG)
    assert NAME in records
    for (task, device), record in records.items():
        assert (record.report.task, record.report.device) == (task, device)
        assert {case.kind for case in record.report.cases} == {"test", "benchmark"}


def test_a_record_of_another_version_is_left_out(root: Path) -> None:
    assert list(Records(CATALOG, root)) == [NAME]
    assert not Records(CATALOG, changed(root, task_version=2))


def test_a_record_by_another_clock_is_left_out(root: Path) -> None:
    assert not Records(CATALOG, changed(root, harness=HARNESS_VERSION + 1))


def test_a_record_of_a_changed_solution_is_left_out(root: Path) -> None:
    assert not Records(CATALOG, changed(root, source_sha256="0" * 64))
    assert not Records(CATALOG, changed(root, solution="gone"))


def test_a_record_of_an_unknown_task_is_left_out(root: Path) -> None:
    others = {name: folder for name, folder in CATALOG.items() if name != "constant_add"}
    assert not Records(others, root)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"score": None}, "have a score"),
        ({"verdict": "wrong_answer"}, "report"),
        ({"task": "softmax"}, "the report is of softmax"),
        ({"device": "H100"}, "on H100"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_a_malformed_record_is_named(root: Path, values: dict[str, object], message: str) -> None:
    with pytest.raises(RecordError, match=r"constant_add\.json") as caught:
        Records(CATALOG, changed(root, **values))
    assert message in str(caught.value)
