"""Samples and badges of reports that an H200 gave."""

import csv
import io
from xml.etree import ElementTree

import pyarrow.parquet
import pytest

from tests.pages.site import Site
from tests.pages.test_comparisons import finished


def test_samples_are_a_table(site: Site) -> None:
    submission = finished(site, "softmax-accepted-fused")
    answer = site.http.get(f"/api/v1/submissions/{submission}/samples.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(answer.text.splitlines()))
    first = site.http.get(f"/api/v1/submissions/{submission}").json()["report"]["cases"]
    timed = {case["case"]: case["timing"]["samples"] for case in first if case["timing"]}
    assert len(rows) == sum(map(len, timed.values()))
    assert float(rows[0]["microseconds"]) == timed[rows[0]["case"]][0]
    answer = site.http.get(f"/api/v1/submissions/{submission}/samples.parquet")
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    table = pyarrow.parquet.read_table(io.BytesIO(answer.content))
    found = [{name: str(value) for name, value in row.items()} for row in table.to_pylist()]
    assert found == rows
    assert table.schema.metadata[b"submission"] == submission.encode()
    assert table.schema.metadata[b"device"] == b"H200"


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ("softmax-accepted-fused", "85.79 µs on H200"),
        ("softmax-wrong_answer-no_maximum", "wrong answer"),
    ],
)
def test_a_badge_says_what_came_of_it(site: Site, report: str, words: str) -> None:
    submission = finished(site, report)
    answer = site.http.get(f"/api/v1/submissions/{submission}/badge.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    texts = [element.text for element in ElementTree.fromstring(answer.text).iter() if element.text]
    assert texts == [f"softmax: {words}", "softmax", words]


def test_what_was_not_measured_has_a_badge_and_no_samples(site: Site) -> None:
    submission = site.submit()
    assert "queued" in site.http.get(f"/api/v1/submissions/{submission}/badge.svg").text
    for kind in ("csv", "parquet"):
        answer = site.http.get(f"/api/v1/submissions/{submission}/samples.{kind}")
        assert answer.status_code == 404
