"""Of each task the best accepted report becomes a record, and the table is made of them."""

import shutil
from pathlib import Path

from kernels.catalog import Catalog
from kernels.contract import DeviceName
from kernels.records import Records
from scripts.records import HEADING, best, with_table

REPORTS = Path(__file__).parents[1] / "data" / "reports" / "h200"


def test_the_best_report_of_each_task_is_kept() -> None:
    found = best(REPORTS, Catalog())
    assert set(found) == {("matmul", DeviceName.H200), ("softmax", DeviceName.H200)}
    assert found["softmax", DeviceName.H200].solution == "fused"


def test_what_was_not_accepted_is_no_record(tmp_path: Path) -> None:
    for path in REPORTS.glob("softmax-wrong_answer-*.json"):
        shutil.copy(path, tmp_path / path.name.replace("wrong_answer", "accepted"))
    assert best(tmp_path, Catalog()) == {}


def test_only_its_section_of_the_document_is_written() -> None:
    before = f"# Measured\n\nText.\n\n{HEADING}\n\nOld.\n\n## After\n\nMore.\n"
    after = with_table(before, Records(Catalog()))
    assert after.startswith("# Measured\n\nText.\n\n")
    assert after.endswith("\n\n## After\n\nMore.\n")
    assert "Old." not in after
    assert "| constant_add, `wide` | small |" in after
    assert with_table(after, Records(Catalog())) == after
