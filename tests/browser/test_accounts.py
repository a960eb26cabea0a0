"""What people with accounts do, and how their pages look."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest

from app.redis_server import connect
from app.roles import Role
from kernels.catalog import Catalog
from tests.app.accounts.house import PASSWORD, House, opened
from tests.app.conftest import temporary_settings
from tests.app.judging import beat
from tests.browser.conftest import OpenPage, picture
from tests.browser.looking import barriers, look

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

pytestmark = pytest.mark.browser

_WIDTHS: dict[str, "ViewportSize"] = {
    "wide": {"width": 1360, "height": 900},
    "phone": {"width": 390, "height": 844},
}
_LOOKS: tuple[tuple[Literal["light", "dark"], str], ...] = (("light", "wide"), ("dark", "phone"))

_HOUSE = ("/you", "/you/webhooks", "/admin", "/admin/judge", "/admin/audit", "/admin/users/member")


@pytest.fixture(scope="module")
def site() -> Iterator[House]:
    """Where `open_page` opens pages: a service with accounts."""
    with temporary_settings() as settings, opened(settings, Catalog()) as house:
        house.account("master", Role.ADMIN)
        house.account("member")
        yield house


def sign_in(page: "Page", name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("scripts", [True, False])
def test_sign_up_submit_make_a_token_and_sign_out(
    open_page: OpenPage, site: House, scripts: bool
) -> None:
    name = "ada" if scripts else "bob"
    page = open_page("/tasks/softmax", java_script_enabled=scripts)
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name="Softmax over rows").click()
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/submissions/*")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("heading", name="Cancelled").wait_for()

    page.get_by_role("link", name=name).click()
    page.get_by_label("New token for").fill("laptop")
    page.get_by_role("button", name="Make token").click()
    secret = page.get_by_text(re.compile("^kj_")).inner_text()
    with_it = site.client(secret).get("/api/v1/me").json()
    assert (with_it["user"], with_it["quotas"]["hourly"]["used"]) == (name, 1)
    picture(page, f"you-{name}")
    page.get_by_role("button", name="Revoke laptop").click()
    page.get_by_text("ended").wait_for()
    assert site.client(secret).get("/api/v1/me").status_code == 401
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()


@pytest.mark.parametrize(("scheme", "width"), _LOOKS)
def test_pages_are_readable(open_page: OpenPage, scheme: str, width: str) -> None:
    page = open_page("/sign-in?next=/you", color_scheme=scheme, viewport=_WIDTHS[width])
    look(page, f"sign-in-{scheme}-{width}")
    page.goto("/sign-up")
    look(page, f"sign-up-{scheme}-{width}")
    page.goto("/sign-in?next=/you")
    sign_in(page, "master")
    page.get_by_label("New token for").fill("laptop")
    page.get_by_role("button", name="Make token").click()
    look(page, f"you-{scheme}-{width}")
    page.get_by_role("link", name="Admin").click()
    page.get_by_role("button", name="Invite").click()
    look(page, f"admin-{scheme}-{width}")
    page.get_by_role("region", name="Accounts").get_by_role("link", name="member").click()
    look(page, f"admin-account-{scheme}-{width}")
    page.goto("/you/webhooks")
    page.get_by_label("Address").fill("https://192.0.43.8/hook")
    page.get_by_role("button", name="Make webhook").click()
    look(page, f"webhooks-{scheme}-{width}")
    page.get_by_role("link", name="192.0.43.8").first.click()
    look(page, f"deliveries-{scheme}-{width}")


def test_an_admin_looks_after_the_judge(open_page: OpenPage, site: House) -> None:
    with connect(site.settings.redis_address) as queue:
        # As long as a slow machine takes to sign in and to look at all pages.
        beat(queue, 600, name="b", host="gpu-host-1")
        page = open_page("/sign-in?next=/admin")
        sign_in(page, "master")
        page.get_by_role("link", name="The judge").click()
        page.get_by_role("button", name="Drain gpu-host-1").click()
        page.get_by_role("button", name="Resume gpu-host-1").wait_for()
        assert queue.get("drain:gpu-host-1") == b"master"
    for scheme, width in _LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(_WIDTHS[width])
        look(page, f"judge-{scheme}-{width}")
    page.get_by_role("button", name="Resume gpu-host-1").click()
    page.get_by_role("button", name="Drain gpu-host-1").wait_for()
    page.goto("/admin/users/member")
    page.get_by_label("Submissions within an hour").fill("7")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="All accounts").click()
    page.get_by_role("link", name="What admins did").click()
    told = page.get_by_role("main").inner_text()
    assert all(act in told for act in ("drain", "resume", "change account"))


def test_axe_finds_nothing_serious(open_page: OpenPage, site: House) -> None:
    found = {}
    page = open_page("/sign-in?next=/you")
    found["sign-in"] = barriers(page)
    page.goto("/sign-up")
    found["sign-up"] = barriers(page)
    page.goto("/sign-in?next=/you")
    sign_in(page, "master")
    page.get_by_role("heading", name="Tokens").wait_for()
    with connect(site.settings.redis_address) as queue:
        beat(queue, name="b", host="gpu-host-1")
    for path in _HOUSE:
        page.goto(path)
        found[path] = barriers(page)
    assert {name: some for name, some in found.items() if some} == {}
