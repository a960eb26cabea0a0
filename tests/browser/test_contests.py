"""How the pages of a contest look, and that one can take part without scripts."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

import pytest

from kernels.catalog import Catalog
from tests.app.accounts.house import House
from tests.app.conftest import temporary_settings
from tests.app.contests.playing import API, HOUR, arena, when
from tests.browser.conftest import OpenPage, picture
from tests.browser.test_accounts import sign_in

pytestmark = pytest.mark.browser

_CONTRAST = Path(__file__).with_name("contrast.js").read_text()
_LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1400), ("dark", 390))
_LONG = "a-team-with-as-long-a-name-as-is"


@pytest.fixture(scope="module")
def site() -> Iterator[House]:
    """A service with a contest of two entrants, one of them disqualified."""
    with temporary_settings() as settings, arena(settings, Catalog()) as play:
        start = play.contest("cup", team_size=3, description="# Rules\nOne kernel each.")
        team = play.joined("member", "cup", team=_LONG)
        play.judged(team, "cup", 10.0)
        team.post(f"{API}/cup/questions", json={"text": "Is it long? " + "x" * 90})
        play.host.post(f"{API}/cup/announcements", json={"text": "Lunch.\nThen on."})
        play.contest("later", starts_at=start["ends_at"], ends_at=when(_end(start)))
        yield play.house


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
            picture(page, name)
            assert page.evaluate(_CONTRAST) == [], name
            root = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert root[0] <= root[1], f"{name} is wider than the screen"
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
