"""Signing in and up by an OpenID Connect provider, over HTTP on both sides."""

import base64
import html
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from app.accounts import Accounts, Throttle, administration, identities
from app.accounts import provider as provider_module
from app.accounts.callers import Caller
from app.accounts.provider import Provider as Client
from app.accounts.provider import Way
from app.accounts.schemas import AccountChange, InviteRequest
from app.accounts.throttle import Rate
from app.errors import Forbidden, Unauthorised, Unavailable
from app.roles import Scope
from app.settings import Accounts as AccountMode
from app.settings import Settings
from app.store import Store
from kernels.catalog import Catalog
from tests.app.accounts.house import House, opened, send
from tests.app.accounts.provider import CLIENT, SECRET, Provider, providing
from tests.app.conftest import temporary_settings

PATH = "/sign-in/provider"
ADMIN = Caller("boss", frozenset(Scope))


@dataclass
class World:
    """A house, and the provider that vouches for its people."""

    house: House
    provider: Provider

    def be(self, subject: str, **claims: Any) -> None:
        """Let the provider take whoever comes for this person, and tell the truth."""
        self.provider.person = {"sub": subject, "email": f"{subject}@example.org"} | claims
        self.provider.lies, self.provider.signs_with = {}, None

    def travel(
        self, wish: str, browser: httpx.Client | None = None, **fields: str
    ) -> tuple[httpx.Client, httpx.Response]:
        """To the provider and back; the browser, and the page that it comes back to."""
        browser = browser or self.house.browser()
        return browser, browser.get(came_back(away(browser, wish, **fields)))

    def name(self, browser: httpx.Client) -> str:
        """Who is signed in."""
        return str(browser.get("/api/v1/me").json().get("user"))


def away(browser: httpx.Client, wish: str, **fields: str) -> str:
    """The address at the provider that a browser is sent to."""
    page = "/you" if wish == "link" else "/sign-in"
    left = send(browser, PATH, page=page, wish=wish, **fields)
    found = re.search(r'content="0; url=([^"]+)"', left.text)
    assert found, left.text
    return html.unescape(found[1])


def came_back(address: str) -> str:
    """Where the provider sends the browser after it was there."""
    return httpx.get(address, verify=False).headers["location"]


def part_of(address: str, name: str) -> str:
    """Of the query of an address."""
    return parse_qs(urlsplit(address).query)[name][0]


def settings_of(provider: Provider, **more: Any) -> Settings:
    """Of an installation that knows the provider."""
    known: dict[str, Any] = {
        "accounts": "open",
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
        "oidc_name": "Example <b>",
    }
    return Settings(**(known | more))


@contextmanager
def world_of(provider: Provider, mode: AccountMode, **more: Any) -> Iterator[World]:
    """A house of a mode that knows the provider, as long as the block lasts."""
    with temporary_settings() as plain:
        places = {"data_dir": plain.data_dir, "database_url": plain.database_url}
        settings = settings_of(provider, **places, **more)
        with opened(settings, Catalog(), mode) as house:
            yield World(house, provider)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing() as provider:
        yield provider


@pytest.fixture(scope="module")
def world(provider: Provider) -> Iterator[World]:
    with world_of(provider, "open") as world:
        yield world


def test_who_signs_up_chooses_a_name_and_signs_in_again_without_a_password(world: World) -> None:
    world.be("ada")
    shown = world.house.browser().get("/sign-in?next=/submissions").text
    assert "Sign in with Example &lt;b&gt;" in shown
    _, page = world.travel("sign-in")
    assert page.status_code == 403
    assert "ada@example.org at Example" in page.text
    assert 'value="sign-up"' in page.text, "the page that helps"
    first, answer = world.travel("sign-up", name="countess", next="//evil.example")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert world.name(first) == "countess"
    again, answer = world.travel("sign-in", next="/submissions")
    assert answer.headers["location"] == "/submissions"
    assert world.name(again) == "countess"
    mine = again.get("/you").text
    assert "ada@example.org" in mine
    assert 'action="/you/password"' not in mine
    me = again.get("/api/v1/me").json()
    assert not me["has_password"]
    assert me["identities"][0]["issuer"] == world.provider.issuer
    refused = send(world.house.browser(), "/sign-in", name="countess", password="")
    assert refused.status_code == 401
    for name in ("countess", "another"):
        _, page = world.travel("sign-up", name=name)
        assert page.status_code == 409
        assert "countess" in page.text
    assert send(again, "/you/unlink", page="/you").status_code == 409


def test_an_account_is_linked_and_unlinked_by_its_owner(world: World) -> None:
    world.be("bob")
    world.house.account("builder")
    browser = world.house.browser("builder")
    _, answer = world.travel("link", browser)
    assert answer.headers["location"] == "/you#sign-in"
    assert "bob@example.org" in browser.get("/you").text
    other, _ = world.travel("sign-in")
    assert world.name(other) == "builder"
    world.house.account("second")
    _, page = world.travel("link", world.house.browser("second"))
    assert page.status_code == 409
    assert send(other, "/you/unlink", page="/you").status_code == 303
    _, page = world.travel("sign-in")
    assert page.status_code == 403


def test_a_disabled_account_stays_out(world: World) -> None:
    world.be("cyd")
    world.travel("sign-up", name="cyd")
    administration.change_account(world.house.store, ADMIN, "cyd", AccountChange(disabled=True))
    _, page = world.travel("sign-in")
    assert page.status_code == 403
    assert "disabled" in page.text


LIES: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "guessed"},
    "no nonce": {"nonce": None},
    "for another client": {"aud": "other"},
    "for several, and issued to another": {"aud": [CLIENT, "other"], "azp": "other"},
    "by another issuer": {"iss": "https://evil.example"},
    "long ago": {"exp": 1_000_000_000},
    "of nobody": {"sub": None},
    "of another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_who_it_is_are_not_believed(world: World, lie: str) -> None:
    world.be("eve")
    world.provider.lies = LIES[lie]
    browser, page = world.travel("sign-up", name="eve")
    assert page.status_code == 401
    assert "cannot be trusted" in page.text
    assert world.name(browser) == "None"


def test_what_another_key_signed_is_not_believed(world: World) -> None:
    world.be("eve")
    world.provider.signs_with = RSAKey.generate_key(2048, {"kid": "1"})
    _, page = world.travel("sign-up", name="eve")
    assert page.status_code == 401


def test_only_the_browser_that_left_comes_back_and_once(world: World) -> None:
    """Or somebody could sign another in as themself, or use a code that they have seen."""
    world.be("dan")
    browser = world.house.browser()
    back = came_back(away(browser, "sign-up", name="dan"))
    page = world.house.browser().get(back)
    assert page.status_code == 403
    assert "did not leave" in page.text
    assert browser.get(back.replace("state=", "state=x")).status_code == 403
    assert browser.get(back).status_code == 303
    assert browser.get(back).status_code == 403
    stolen = came_back(away(world.house.browser(), "sign-in"))
    thief = world.house.browser()
    own = came_back(away(thief, "sign-in"))
    page = thief.get(own.replace(part_of(own, "code"), part_of(stolen, "code")))
    assert page.status_code == 401, "PKCE: the code is worth nothing without its verifier"


def test_a_cookie_that_another_put_there_leads_nowhere_else(world: World) -> None:
    """Whatever else runs on this host, on another port, can set cookies for it."""
    world.be("ivy")
    world.travel("sign-up", name="ivy")
    browser = world.house.browser()
    back = came_back(away(browser, "sign-in"))
    journey = json.loads(base64.urlsafe_b64decode(browser.cookies["kj-journey"].strip('"')))
    del browser.cookies["kj-journey"]
    forged = base64.urlsafe_b64encode(json.dumps(journey | {"next": "//evil.example"}).encode())
    browser.cookies["kj-journey"] = forged.decode()
    answer = browser.get(back)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_provider_that_refuses_or_is_away_is_a_page(world: World) -> None:
    browser = world.house.browser()
    state = part_of(away(browser, "sign-in"), "state")
    page = browser.get(f"{PATH}?error=access_denied%3Cb%3E&state={state}")
    assert page.status_code == 403
    assert "access_denied&lt;b&gt;" in page.text
    assert 'action="/sign-in"' in page.text
    bad = send(browser, PATH, page="/sign-up", wish="sign-up", name="Bad Name")
    assert bad.status_code == 422


def test_a_form_of_another_site_does_not_begin_it(world: World) -> None:
    answer = world.house.browser().post(PATH, data={"wish": "sign-in"})
    assert answer.status_code == 403


def test_invitations_and_closed_doors_count_here_too(provider: Provider) -> None:
    with world_of(provider, "invite", oidc_domains=("example.org",)) as world:
        world.be("fay", email_verified=True)
        _, page = world.travel("sign-up", name="fay", invite="made-up")
        assert page.status_code == 403
        invite = administration.create_invite(world.house.store, ADMIN, InviteRequest())
        browser, answer = world.travel("sign-up", name="fay", invite=invite.secret)
        assert answer.status_code == 303
        assert world.name(browser) == "fay"
        for claims in (
            {"email": "fay@example.org.evil"},
            {"email": "fay@notexample.org"},
            {"email_verified": False},
            {"email_verified": None},
            {"email": None},
        ):
            world.be("fay", **({"email_verified": True} | claims))
            _, page = world.travel("sign-in")
            assert page.status_code == 403, claims
            assert "example.org" in page.text


def test_where_nobody_signs_up_a_provider_makes_no_accounts(
    provider: Provider, store: Store
) -> None:
    settings = settings_of(provider, accounts="closed")
    accounts = Accounts(settings, store, Throttle(store))
    provider.person, provider.lies = {"sub": "gil"}, {}
    way = Way("secret", "http://127.0.0.1/back")
    address = accounts.provider.address(way)
    with pytest.raises(Forbidden) as refused:
        identities.sign_in(accounts, way, part_of(came_back(address), "code"))
    assert "Ask an admin" in refused.value.next_step
    with pytest.raises(Forbidden) as refused:
        identities.sign_up(accounts, way, part_of(came_back(address), "code"), "gil", "", None)
    assert "Ask an admin" in refused.value.next_step


@pytest.mark.parametrize(
    "said", [{"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": 7}]
)
def test_a_provider_that_is_somebody_else_is_not_asked(
    provider: Provider, said: dict[str, Any]
) -> None:
    provider.says = said
    with pytest.raises(Unavailable):
        Client(settings_of(provider)).address(Way("secret", "http://127.0.0.1/back"))
    provider.says = {}


def test_a_provider_that_is_away_is_not_asked_by_everybody(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, way = Client(settings_of(provider)), Way("secret", "http://127.0.0.1/back")
    provider.says = {"issuer": "https://evil.example"}
    with pytest.raises(Unavailable):
        asked.address(way)
    provider.says = {}
    with pytest.raises(Unavailable, match="calls itself"):
        asked.address(way)
    monkeypatch.setattr(provider_module, "_AWAY_SECONDS", 0.0)
    assert asked.address(way).startswith(provider.issuer)


def test_who_comes_back_again_and_again_is_slowed_down(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the provider is asked, whatever the code is."""
    world.be("hal")
    browser = world.house.browser()
    rate = Rate("come and go", 1, timedelta(minutes=15))
    monkeypatch.setattr(identities, "PROVIDER_FROM", rate)
    back = came_back(away(browser, "sign-in"))
    page = browser.get(back)
    assert page.status_code == 429
    assert "too many attempts to come and go" in page.text
    assert send(browser, PATH, page="/sign-in", wish="sign-in").status_code == 429


@pytest.fixture
def independent() -> Iterator[str]:
    """Address of a provider that others have written, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        while not _answers(address):
            assert running.poll() is None, "the provider did not start"
            time.sleep(0.05)
        yield address
    finally:
        running.terminate()
        running.wait()


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/jwks", verify=False).status_code == 200
    except httpx.ConnectError:
        return False


def test_a_provider_of_another_make(independent: str) -> None:
    asked = Client(settings_of(Provider(issuer=independent)))
    way = Way("secret", "http://127.0.0.1/back")
    signed_in = httpx.post(asked.address(way), data={"sub": "ida@example.org"}, verify=False)
    back = signed_in.headers["location"]
    assert part_of(back, "state") == way.derived("state")
    found = asked.identity(way, part_of(back, "code"))
    assert found == (independent, "ida@example.org", "ida@example.org")
    with pytest.raises(Unauthorised):
        asked.identity(way, part_of(back, "code"))
