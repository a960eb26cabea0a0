"""What people do, from the first page to the report, with and without JavaScript."""

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import OpenPage, picture
from tests.pages import rerunning, samples
from tests.pages.site import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser


def test_write_submit_watch_and_read(open_page: OpenPage, site: Site) -> None:
    page = open_page("/")
    page.get_by_role("link", name="Softmax over rows").click()
    editor = page.get_by_role("textbox", name="Source")
    editor.press("Control+a")
    editor.press("Delete")
    page.keyboard.insert_text(samples.SOURCE)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    submission = _submission(page)
    assert site.http.get(f"/api/v1/submissions/{submission}/source").text == samples.SOURCE

    page.evaluate("window.same = true")
    status = page.get_by_role("status")
    status.get_by_text("Number").wait_for()
    site.enter(submission, "building", "compiling for H200")
    status.get_by_text("compiling for H200").wait_for()
    picture(page, "journey-building")
    site.enter(submission, "measuring", "timing")
    status.get_by_text("timing").wait_for()
    site.finish(samples.accepted(submission))
    page.get_by_role("heading", name="Accepted").wait_for()
    assert page.title().startswith("Accepted")
    assert page.evaluate("window.same") is True, "the page was loaded anew"
    page.get_by_role("link", name="What the figures say").first.click()
    page.get_by_role("heading", name="Roofline").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Accepted").wait_for()
    assert page.locator("[hx-sse\\:connect]").count() == 0, "it is as it was while it was judged"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_newcomer_improves_and_compares(open_page: OpenPage, site: Site, scripts: bool) -> None:
    page = open_page("/", java_script_enabled=scripts)
    page.get_by_role("link", name="Learn").click()
    page.get_by_role("link", name="Softmax over rows").click()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    first = _submission(page)
    site.finish(samples.accepted(first, scale=1.3))
    page.get_by_role("heading", name="Accepted").wait_for()
    page.get_by_role("link", name="What the figures say").first.click()
    page.get_by_role("heading", name="Roofline").wait_for()
    page.go_back()
    page.get_by_role("link", name="Edit and submit again").click()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    second = _submission(page)
    site.finish(samples.accepted(second))
    page.get_by_role("heading", name="Accepted").wait_for()
    page.get_by_label("Compare with").fill(first)
    page.get_by_role("button", name="Compare").click()
    page.get_by_text("1.30").first.wait_for()
    assert page.url.endswith(f"/compare/{second}/{first}")


def test_a_page_whose_last_script_comes_late_follows_too(open_page: OpenPage, site: Site) -> None:
    submission = site.submit()
    page = open_page("/")
    late: list[Route] = []
    page.route("**/hx-sse-*", lambda route: late.append(route))
    with page.expect_request_finished(lambda request: "/static/htmx-" in request.url):
        page.goto(f"/submissions/{submission}", wait_until="commit")
    while not late:
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)  # in which htmx could begin without it
    late[0].continue_()
    site.finish(samples.accepted(submission))
    page.get_by_role("heading", name="Accepted").wait_for()


def test_everything_works_without_javascript(open_page: OpenPage, site: Site) -> None:
    page = open_page("/tasks/softmax", java_script_enabled=False)
    page.get_by_label("Source").fill(samples.SOURCE)
    page.get_by_role("button", name="Submit").click()
    submission = _submission(page)
    site.finish(samples.wrong(submission))
    page.get_by_role("heading", name="Wrong answer").wait_for()  # the page reloads itself
    picture(page, "journey-without-javascript")


def test_an_error_keeps_what_was_typed(open_page: OpenPage, site: Site) -> None:
    page = open_page("/tasks/softmax", java_script_enabled=False)
    page.get_by_label("Source").fill("\n \n")
    with page.expect_response(lambda response: response.status == 422):
        page.get_by_role("button", name="Submit").click()
    assert "the source is empty" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Source").input_value() == "\n \n"


def test_filters_stay_in_the_address(open_page: OpenPage, site: Site) -> None:
    site.finish(samples.checked(site.submit()))
    page = open_page("/submissions")
    page.get_by_label("Verdict").select_option("checked")
    page.get_by_role("button", name="Filter").click()
    assert "verdict=checked" in page.url
    verdicts = page.locator("td .verdict").all_inner_texts()
    assert set(verdicts) == {"Checked"}


def _submission(page: "Page") -> str:
    return page.url.rsplit("/", 1)[1]


def test_measure_again_and_look_deeper_without_javascript(open_page: OpenPage, site: Site) -> None:
    rerunning.offer(site, memcheck="", racecheck="", profile="")
    submission = rerunning.accepted(site, scale=0.9)
    page = open_page(f"/submissions/{submission}", java_script_enabled=False)
    page.get_by_role("button", name="Look at memory").click()
    page.get_by_text("Queued: waiting for a measurer").wait_for()
    [asked] = site.http.get(f"/api/v1/submissions/{submission}/reruns").json()
    voice, _ = rerunning.measurer_of(site, asked["id"])
    voice.end(rerunning.FOUND)
    page.get_by_text("12 errors").wait_for()  # the page loads itself anew
    page.get_by_role("link", name="line 13").first.wait_for()

    page.get_by_role("button", name="Measure again").click()
    page.get_by_text("Measuring again: waiting").wait_for()
    asked = site.http.get(f"/api/v1/submissions/{submission}/reruns").json()[0]
    voice, job = rerunning.measurer_of(site, asked["id"])
    wrong = samples.wrong(submission).model_copy(update={"rebuilt": None})
    voice.sitting(job.turns[0], wrong)
    voice.end()
    page.get_by_text("Held: measured again it was wrong_answer").wait_for()
    picture(page, "journey-held")
    page.goto("/boards/softmax/H200")
    page.get_by_role("heading", name="Held").wait_for()
    picture(page, "journey-board-with-held")
