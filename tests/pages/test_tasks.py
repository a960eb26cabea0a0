import re
import time

import httpx
import pytest
from markupsafe import escape

from tests.app.judging import beat
from tests.pages import samples
from tests.pages.site import Site

FORM = {"source": samples.SOURCE, "device": "H200", "form_key": "key-1"}


def test_the_list_names_every_task(site: Site) -> None:
    page = site.html("/")
    for task in site.http.get("/api/v1/tasks").json():
        assert f'href="/tasks/{task["name"]}"' in page
        assert escape(task["title"]) in page


def test_the_list_shows_the_course(site: Site) -> None:
    (track,) = site.http.get("/api/v1/tracks").json()
    page = site.html("/")
    for part in track["parts"]:
        assert f">{part['title']}</h2>" in page


@pytest.mark.parametrize("page", ["/boards/constant_add/H200", "/tasks/constant_add?device=H200"])
def test_a_fresh_board_has_the_house_entry(site: Site, page: str) -> None:
    assert '<tr class="house">' in site.html(page)
    assert "/api/v1/records/constant_add/H200" in site.html(page)
    assert '<tr class="house">' not in site.html(page.replace("H200", "H100"))


def test_a_task_shows_what_one_needs_to_solve_it(site: Site) -> None:
    page = site.html("/tasks/softmax")
    assert "<dt>Name</dt><dd><code>softmax</code></dd>" in page
    assert '<h2 id="what-counts">' in page
    assert "M\N{NO-BREAK SPACE}70,000 · N\N{NO-BREAK SPACE}65 · float16" in page
    assert "x starts at element 1" in page
    assert "def solve(x: torch.Tensor)" in page
    assert "Nobody has an accepted submission for H200 yet." in page


def test_an_unknown_task_is_a_page_that_says_what_to_do(site: Site) -> None:
    page = site.html("/tasks/nope", status=404)
    assert "no task is called &#39;nope&#39;" in page
    assert "Choose one of: " in page


def test_the_form_submits_and_leads_to_the_submission(site: Site) -> None:
    sent = {**FORM, "form_key": "leads", "source": samples.SOURCE.replace("\n", "\r\n")}
    response = site.http.post("/tasks/softmax", data=sent)
    assert response.status_code == 303
    submission = response.headers["location"].rsplit("/", 1)[1]
    assert site.http.get(f"/api/v1/submissions/{submission}/source").text == samples.SOURCE


def test_a_form_sent_twice_is_one_submission_but_not_with_another_source(site: Site) -> None:
    def send(**changes: str) -> str:
        response = site.http.post("/tasks/softmax", data={**FORM, "form_key": "twice", **changes})
        return response.headers["location"]

    assert send() == send()
    assert send() != send(source="other = 1")
    assert send() != send(form_key="another")


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"source": " \n"}, 422, "the source is empty"),
        ({"source": "x\0y"}, 422, "NUL"),
        ({"source": "x" * 300_000}, 413, "256 KiB"),
        ({"device": "B200"}, 422, "device"),
    ],
)
def test_a_form_that_cannot_be_taken_keeps_what_was_typed(
    site: Site, changes: dict[str, str], status: int, said: str
) -> None:
    response = site.http.post("/tasks/softmax", data={**FORM, **changes})
    assert response.status_code == status
    assert 'role="alert"' in response.text
    assert said in response.text
    typed = {**FORM, **changes}["source"]
    assert typed[:40] in response.text


def test_a_file_is_taken_instead_of_the_text(site: Site) -> None:
    def send(content: bytes) -> httpx.Response:
        file = {"file": ("mine.py", content, "text/x-python")}
        return site.http.post("/tasks/softmax", data={**FORM, "form_key": "file"}, files=file)

    submission = send(b"\xef\xbb\xbfmine = 1\r\n").headers["location"].rsplit("/", 1)[1]
    assert site.http.get(f"/api/v1/submissions/{submission}/source").text == "mine = 1\n"
    empty = send(b"")  # what browsers send where none was chosen
    submission = empty.headers["location"].rsplit("/", 1)[1]
    assert site.http.get(f"/api/v1/submissions/{submission}/source").text == samples.SOURCE
    refused = send(b"\xff\xfe")
    assert refused.status_code == 422
    assert "the file is not UTF-8 text" in refused.text


def test_test_cases_alone_are_run_on_the_cpu(site: Site) -> None:
    button = 'name="check_only"'
    assert button not in site.html("/tasks/softmax"), "nothing else is done here"
    beat(site.queue, name="measurer", role="measure", device="H200")
    while button not in site.html("/tasks/softmax"):
        time.sleep(0.05)

    def send(**more: str) -> tuple[str, bool]:
        sent = site.http.post("/tasks/softmax", data={**FORM, "form_key": "only", **more})
        name = sent.headers["location"].rsplit("/", 1)[1]
        return name, site.http.get(f"/api/v1/submissions/{name}").json()["measured"]

    checked, is_measured = send(check_only="true")
    assert not is_measured
    measured, is_measured = send()
    assert is_measured
    assert checked != measured


def test_a_form_of_another_site_is_refused(site: Site) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Accept": "text/html"}
    response = site.http.post("/tasks/softmax", data=FORM, headers=headers)
    assert response.status_code == 403
    assert "another site" in response.text


def test_hostile_source_comes_back_as_text_in_the_editor(site: Site) -> None:
    submission = site.finish(samples.hostile(site.submit(samples.HOSTILE + "\n")))
    page = site.html(f"/tasks/softmax?origin={submission}")
    assert page.count("</textarea>") == 1
    assert "<script>" not in page
    assert "<img" not in page
    found = re.search(r'data-diagnostics="([^"]*)"', page)
    assert found is not None
    assert "&lt;" in found[1]


def test_going_on_from_a_submission_brings_its_source_and_findings(site: Site) -> None:
    submission = site.finish(samples.broken(site.submit("# mine\n" * 20)))
    page = site.html(f"/tasks/softmax?origin={submission}&device=H100")
    assert "# mine\n# mine" in page
    assert "&#34;line&#34;: 11" in page
    assert '<option value="H100" selected>' in page


def test_an_unknown_device_is_not_found(site: Site) -> None:
    site.html("/tasks/softmax?device=B200", status=404)
    site.html("/boards/softmax/B200", status=404)
