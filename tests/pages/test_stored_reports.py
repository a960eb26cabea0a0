"""Reports that were really made on a GPU must be readable as pages."""

from pathlib import Path

import pytest

from kernels.contract import Report
from tests.pages.site import Site

STORED = sorted((Path(__file__).parents[1] / "data" / "reports" / "h200").glob("*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_stored_report_is_shown_whole(site: Site, path: Path) -> None:
    stored = Report.model_validate_json(path.read_text())
    submission = site.submit(task=stored.task)
    site.finish(stored.model_copy(update={"submission": submission, "attempt": 1}))
    page = site.html(f"/submissions/{submission}")
    for case in stored.cases:
        assert case.case in page
    for kernel in stored.kernels:
        assert kernel.function in page
