"""Two submissions held against each other, with reports that an H200 gave: API and page."""

from pathlib import Path
from typing import Any

import pytest

from kernels.contract import Report
from tests.pages import compiling, rerunning
from tests.pages.samples import SOURCE
from tests.pages.site import Site

REPORTS = Path(__file__).parents[1] / "data" / "reports" / "h200"


def finished(site: Site, name: str, source: str = SOURCE) -> str:
    """Id of a new submission that gets that report."""
    report = Report.model_validate_json((REPORTS / f"{name}.json").read_bytes())
    submission = site.submit(source, task=report.task)
    return site.finish(report.model_copy(update={"submission": submission, "attempt": 1}))


def compared(site: Site, first: str, second: str) -> Any:
    answer = site.http.get(f"/api/v1/comparisons/{first}/{second}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def pair(site: Site) -> tuple[str, str]:
    """The fast matmul, and the plain one with another source."""
    return (
        finished(site, "matmul-accepted-persistent"),
        finished(site, "matmul-accepted-tile", SOURCE + "\n# <b>slow</b>\n"),
    )


def test_ratios_with_their_intervals(site: Site, pair: tuple[str, str]) -> None:
    body = compared(site, *pair)
    assert len(body["cases"]) == 5
    assert body["ratio"] > 1.1, "tile is the plain one"
    assert all(case["low"] < case["ratio"] < case["high"] for case in body["cases"])
    back = compared(site, *pair[::-1])
    assert back["ratio"] == pytest.approx(1 / body["ratio"])
    assert body["notes"] == []


def test_kernels_and_sources_show_what_differs(site: Site, pair: tuple[str, str]) -> None:
    body = compared(site, *pair)
    facts = {(d["case"], d["fact"]): (d["first"], d["second"]) for d in body["kernels"]}
    assert facts["square_4096", "kernel"] == ("persistent_product", "tile_product")
    assert facts["square_4096", "warps"][0] == "8", "of the configuration that was chosen"
    assert "+# <b>slow</b>" in body["source"]
    assert compared(site, pair[0], pair[0])["source"] == []
    assert compared(site, pair[0], pair[0])["kernels"] == []


def test_sources_that_would_take_hours_are_not_compared(site: Site, pair: tuple[str, str]) -> None:
    """Every second line is in both, some hundred times, and no two that follow each other are."""
    made = [SOURCE + "".join(f"# {n % 101}\n# {word}{n}\n" for n in range(6000)) for word in "ab"]
    first, second = (finished(site, "matmul-accepted-tile", source) for source in made)
    told = "@@ not compared: one of them has more than 1,000 lines @@"
    assert compared(site, first, second)["source"] == [f"--- {first}", f"+++ {second}", told]
    assert told in site.html(f"/compare/{first}/{second}")
    assert compared(site, first, first)["source"] == []
    assert compared(site, pair[0], second)["source"][2] == told


def test_plans_show_what_differs(site: Site, pair: tuple[str, str]) -> None:
    rerunning.offer(site)
    first, second = (
        rerunning.accepted(site, plan=compiling.packed(grid)) for grid in ((4096, 2, 1), (64, 1, 1))
    )
    rows = compared(site, first, second)["plans"]
    assert [tuple(row.values()) for row in rows] == [
        ("short_rows", "grids", "softmax_kernel 4096 x 2 x 1", "softmax_kernel 64 x 1 x 1")
    ]
    page = site.html(f"/compare/{first}/{second}")
    assert "softmax_kernel 64 x 1 x 1" in page
    assert f'href="/submissions/{second}/plan"' in page
    assert "They launch the same" in site.html(f"/compare/{first}/{first}")
    assert compared(site, *pair)["plans"] is None, "their plans were never there"
    other = rerunning.accepted(site)  # what was kept is no plan
    assert compared(site, first, other)["plans"] is None


def test_the_page_has_the_same_figures(site: Site, pair: tuple[str, str]) -> None:
    page = site.html(f"/compare/{pair[0]}/{pair[1]}")
    for case in compared(site, *pair)["cases"]:
        assert f'class="mono">{case["case"]}</th>' in page
    assert "slower" in page
    assert "# &lt;b&gt;slow&lt;/b&gt;" in page
    assert "They are the same." in site.html(f"/compare/{pair[0]}/{pair[0]}")


def test_what_was_not_measured_is_said(site: Site) -> None:
    first = finished(site, "softmax-accepted-fused")
    second = finished(site, "softmax-wrong_answer-no_maximum")
    body = compared(site, first, second)
    assert body["ratio"] is None
    assert body["notes"] == [f"{second} was not measured (wrong_answer)."]
    assert "was not measured" in site.html(f"/compare/{first}/{second}")


def test_what_does_not_compare_is_refused(site: Site, pair: tuple[str, str]) -> None:
    other = finished(site, "softmax-accepted-fused")
    unfinished = site.submit(task="matmul")
    for second, status in ((other, 422), (unfinished, 422), ("nothing", 404)):
        answer = site.http.get(f"/api/v1/comparisons/{pair[0]}/{second}")
        assert answer.status_code == status
        assert answer.json()["next_step"]


def test_the_form_leads_to_the_page(site: Site, pair: tuple[str, str]) -> None:
    assert 'action="/compare"' in site.html(f"/submissions/{pair[0]}")
    answer = site.http.get("/compare", params={"first": pair[0], "second": pair[1]})
    assert answer.headers["location"] == f"/compare/{pair[0]}/{pair[1]}"
    assert site.http.get("/compare", params={"first": "a/../b", "second": "c"}).status_code == 422
