"""The pages on a launch plan and on its kernels."""

import html
import re

import pytest

from tests.pages import compiling, rerunning, samples
from tests.pages.site import Site


@pytest.fixture(scope="module")
def submission(site: Site) -> str:
    rerunning.offer(site, memcheck="", racecheck="", profile="")
    return rerunning.accepted(site, plan=compiling.packed())


def test_the_report_leads_to_plan_and_kernel(site: Site, submission: str) -> None:
    assert f'href="/submissions/{submission}/plan"' in site.html(f"/submissions/{submission}")
    assert f'href="/submissions/{submission}/kernels/0"' in site.html(
        f"/submissions/{submission}/plan"
    )


def test_the_plan_shows_launches_of_a_benchmark(site: Site, submission: str) -> None:
    page = site.html(f"/submissions/{submission}/plan")
    assert "4096 \u00d7 2 \u00d7 1" in page
    assert "b0" in page
    assert f'href="/submissions/{submission}#line-19"' in page
    assert "1 \u00d7 1 \u00d7 1" in site.html(f"/submissions/{submission}/plan?case=tiny")
    site.html(f"/submissions/{submission}/plan?case=nope", status=404)


def test_configurations_tell_kernels_of_one_function_apart(site: Site) -> None:
    submission = rerunning.accepted(site, plan=compiling.tuned())
    page = site.html(f"/submissions/{submission}/plan")
    table = page[page.index("<h2>Kernels") :]
    for config in compiling.CONFIGS:
        assert table.count(config) == 1
    first, second = (site.html(f"/submissions/{submission}/kernels/{n}") for n in range(2))
    assert [config in first for config in compiling.CONFIGS] != [
        config in second for config in compiling.CONFIGS
    ]


def test_a_line_is_marked_on_both_sides(site: Site, submission: str) -> None:
    page = site.html(f"/submissions/{submission}/kernels/0?text=ttir&line=11")
    assert '<li id="line-11" class="chosen">' in page
    assert page.count('class="chosen"') == 4
    assert page.count('id="first"') == 1
    assert "arith.constant" in page


def test_texts_are_escaped(site: Site, submission: str) -> None:
    page = site.html(f"/submissions/{submission}/kernels/0?text=sass")
    assert "<script>alert" not in page
    assert html.escape("<script>") in page
    whole = site.http.get(f"/submissions/{submission}/kernels/0/sass.txt")
    assert whole.text == compiling.SASS
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["kernels/1", "kernels/0?text=llir", "kernels/0/llir.txt"])
def test_what_is_not_there(site: Site, submission: str, path: str) -> None:
    assert site.http.get(f"/submissions/{submission}/{path}").status_code == 404


def test_which_texts_a_kernel_has_is_said(site: Site, submission: str) -> None:
    page = site.html(f"/submissions/{submission}/kernels/0?text=llir", status=404)
    assert re.search(r"It has (\w+, )*ptx", page)


def test_a_submission_without_a_plan(site: Site) -> None:
    submission = site.finish(samples.broken(site.submit()))
    site.html(f"/submissions/{submission}/plan", status=404)


def test_a_plan_of_another_version(site: Site) -> None:
    submission = rerunning.accepted(site)
    assert "cannot be read" in site.html(f"/submissions/{submission}/plan", status=404)
