import re

import pytest

from app.pages.documents import documents
from tests.pages import samples
from tests.pages.site import Site

PATHS = [
    "/",
    "/tasks/softmax",
    "/submissions",
    "/boards/softmax/H200",
    "/standings",
    "/health",
    "/docs",
]


@pytest.mark.parametrize("path", [*PATHS, "/docs/verdicts", "/nope", "/tasks/nope"])
def test_no_script_but_ours_can_run(site: Site, path: str) -> None:
    response = site.http.get(path)
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", response.text) == []


def test_the_nonce_is_new_each_time(site: Site) -> None:
    policies = {site.http.get("/").headers["content-security-policy"] for _ in range(3)}
    assert len(policies) == 3


@pytest.mark.parametrize("path", PATHS)
def test_every_page_says_that_nothing_is_judged_now(site: Site, path: str) -> None:
    banners = site.http.get("/api/v1/health").json()["banners"]
    assert banners
    page = site.html(path)
    assert 'class="banner' in page
    for banner in banners:
        assert banner in page.replace("&#39;", "'")


def test_health_shows_what_the_service_knows(site: Site) -> None:
    page = site.html("/health")
    assert "SQLite" in page
    assert "No worker is alive" in page
    assert "build" in page


def test_a_board_ranks_accepted_submissions(site: Site) -> None:
    submission = site.finish(samples.accepted(site.submit(), scale=2.0))
    page = site.html("/boards/softmax/H200")
    assert f'href="/submissions/{submission}"' in page
    assert "159.0" in page
    assert "best" in page
    assert "Nobody has" in site.html("/boards/softmax/H100")
    assert '<path class="record"' in page
    assert "house entry" in page, "it has its row among the entries"
    assert f'href="/submissions/{submission}#source"' in page, "all may read the code here"
    assert f'href="/submissions/{submission}"' in site.html("/tasks/softmax")


def test_a_boards_filters_leave_the_ranks_of_the_whole(site: Site) -> None:
    site.finish(samples.accepted(site.submit()))
    assert "None of the first" not in site.html("/boards/softmax/H200?user=LOC&days=3650&rows=500")
    page = site.html("/boards/softmax/H200?user=nobody%3Cb%3E")
    assert 'value="nobody&lt;b&gt;"' in page
    site.html("/boards/softmax/H200?days=x", status=422)
    site.html("/boards/softmax/H200?rows=1001", status=422)


def test_standings_over_all_tasks(site: Site) -> None:
    site.finish(samples.accepted(site.submit()))
    assert 'href="/submissions?user=local&amp;verdict=accepted">local</a>' in site.html(
        "/standings"
    )
    assert "Nobody stands" in site.html("/standings?device=H100")
    body = site.http.get("/api/v1/standings/H200").json()
    assert [(entry["user"], entry["points"]) for entry in body["entries"]] == [("local", 1.0)]
    site.html("/standings?track=nope", status=404)
    site.html("/standings?device=A100", status=422)


def test_documents_link_to_each_other(site: Site) -> None:
    assert 'href="/docs/verdicts"' in site.html("/docs")
    response = site.http.get("/docs/verdicts.md")
    assert response.headers["location"] == "/docs/verdicts"
    site.html("/docs/nope", status=404)
    site.html("/docs/..%2f..%2fREADME", status=404)


def test_every_document_is_listed_once_what_participants_need_first(site: Site) -> None:
    names = re.findall(
        r'href="/docs/([^"]+)"', site.html("/docs").split("<main")[1].split("</main")[0]
    )
    assert sorted(names) == sorted(documents())
    assert names[:2] == ["host-code", "verdicts"]
    ours = [name for name in names if name == "pages" or name.startswith("decisions/")]
    assert sorted(names[-len(ours) :]) == sorted(ours)


def test_pages_are_not_part_of_the_api(site: Site) -> None:
    document = site.http.get("/api/v1/openapi.json").json()
    assert all(path.startswith("/api/v1/") for path in document["paths"])


def test_no_link_leads_nowhere(site: Site) -> None:
    finished = site.finish(samples.accepted(site.submit()))
    seen: set[str] = set()
    for path in (*PATHS, f"/submissions/{finished}", "/docs/verdicts", "/nope"):
        page = site.http.get(path).text
        seen |= {link.split("#")[0] for link in re.findall(r'href="(/[^"]*)"', page)}
    for link in sorted(seen):
        response = site.http.get(link.replace("&amp;", "&"))
        assert response.status_code == 200, link
