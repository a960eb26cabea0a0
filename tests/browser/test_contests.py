"""How the pages of a contest look, and that one can take part without scripts."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import pytest

from kernels.catalog import Catalog
from tests.app.accounts.house import House
from tests.app.conftest import temporary_settings
from tests.app.contests.playing import API, HOUR, Arena, arena, when
from tests.browser.conftest import OpenPage, picture
from tests.browser.looking import barriers, look
from tests.browser.test_accounts import sign_in

pytestmark = pytest.mark.browser

_LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1360), ("dark", 390))
_LONG = "a-team-with-as-long-a-name-as-is"


@pytest.fixture(scope="module")
def play() -> Iterator[Arena]:
    """A service with a contest of two entrants, one of them disqualified."""
    with temporary_settings() as settings, arena(settings, Catalog()) as play:
        start = play.contest("cup", team_size=3, description="# Rules\nOne kernel each.")
        team = play.joined("member", "cup", team=_LONG)
        play.judged(team, "cup", 10.0)
        team.post(f"{API}/cup/questions", json={"text": "Is it long? " + "x" * 90})
        play.host.post(f"{API}/cup/announcements", json={"text": "Lunch.\nThen on."})
        play.contest("later", starts_at=start["ends_at"], ends_at=when(_end(start)))
        yield play


@pytest.fixture(scope="module")
def site(play: Arena) -> House:
    """Where `open_page` opens pages."""
    return play.house


def _end(contest: dict[str, str]) -> datetime:
    return datetime.fromisoformat(contest["ends_at"]) + HOUR


def test_pages_of_contests_are_readable(open_page: OpenPage, site: House) -> None:
    page = open_page("/sign-in?next=/contests")
    sign_in(page, "host")
    paths = ("", "/cup", "/later", "/cup/standings", "/cup/host")
    for scheme, width in _LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        for path in paths:
            page.goto(f"/contests{path}")
            name = f"contests{path.replace('/', '-')}-{scheme}-{width}"
            look(page, name)
            if scheme == "light":
                assert barriers(page) == [], name
    page.goto("/contests/cup")
    page.get_by_text("min").first.wait_for()
    assert " s" in page.locator("time[data-countdown]").inner_text(), "the script counts"


def test_one_takes_part_without_scripts(open_page: OpenPage, site: House) -> None:
    site.account("ada")
    page = open_page("/sign-in?next=/contests/cup", java_script_enabled=False)
    sign_in(page, "ada")
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("link", name="Softmax over rows").click()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    page.goto("/contests/cup")
    page.get_by_label("Ask the hosts").fill("Why?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_text("not shown to others").wait_for()


def test_a_contestant_enters_submits_and_stands_first(open_page: OpenPage, play: Arena) -> None:
    play.house.account("bea")
    page = open_page("/contests")
    sign_in(page, "bea")
    page.get_by_role("link", name="Contest cup").click()
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("link", name="Softmax over rows").click()
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/submissions/*")
    page.get_by_role("status").get_by_text("Number").wait_for()
    name = page.url.rsplit("/", 1)[1]
    play.accept(name, 9.0)
    page.request.get(f"/api/v1/submissions/{name}", params={"wait": 20})
    page.reload()
    page.get_by_role("heading", name="Accepted").wait_for()
    page.goto("/contests/cup/standings")
    first = page.get_by_role("region", name="Board of softmax").locator("tbody tr").first
    assert [first.locator("td").first.inner_text(), first.locator("th").inner_text()] == [
        "1",
        "bea",
    ]
    assert "9.000 µs" in page.get_by_text("Your best").inner_text()
    picture(page, "journey-contestant")
    page.goto("/boards/softmax/H200")
    assert page.get_by_text("bea", exact=True).count() == 1, "only in the header: it is sealed"
