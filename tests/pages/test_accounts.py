"""Signing in and up in a browser, one's own page and the admins' pages."""

import re
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from app.accounts import Caller, administration
from app.accounts.credentials import digest
from app.accounts.schemas import InviteRequest
from app.pages.access import path_here
from app.pages.assets import FRONTEND
from app.roles import Role, Scope
from app.store.account_tables import SessionRow, UserRow
from kernels.catalog import Catalog
from tests.app.accounts.house import PASSWORD, House, form_token, opened, send
from tests.app.api.talking import post
from tests.app.conftest import temporary_settings
from tests.pages.site import Site

ADMIN = Caller("boss", frozenset(Scope))
CLOSED_PAGES = (
    "/",
    "/tasks/softmax",
    "/submissions",
    "/submissions/x",
    "/submissions/x/live",
    "/boards/softmax/H200",
    "/you",
    "/admin",
    "/admin/users/ada",
)


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with temporary_settings() as settings, opened(settings, Catalog()) as house:
        yield house


def main_part(page: str) -> str:
    return page.split("<main")[1].split("</main>")[0]


@pytest.mark.parametrize("path", CLOSED_PAGES)
def test_whoever_is_not_signed_in_is_asked_who_they_are(house: House, path: str) -> None:
    answer = house.browser().get(path, params={"a": "b"})
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/sign-in?next={path}%3Fa%3Db"


@pytest.mark.parametrize("path", ["/health", "/docs", "/docs/verdicts", "/sign-in", "/sign-up"])
def test_some_pages_are_for_all(house: House, path: str) -> None:
    page = house.browser().get(path)
    assert page.status_code == 200
    assert 'href="/sign-in"' in page.text
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", page.text) == []
    assert "unsafe" not in page.headers["content-security-policy"]


def test_health_names_no_worker_to_nobody(house: House) -> None:
    page = house.browser().get("/health").text
    assert "No worker is alive" not in page
    assert "sign in" in main_part(page)
    house.account("doctor")
    assert "No worker is alive" in house.browser("doctor").get("/health").text


def test_one_signs_up_submits_and_signs_out(house: House) -> None:
    browser = house.browser()
    answer = send(browser, "/sign-up", name="ada", password=PASSWORD)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    source = "import triton\n\ndef solve(x):\n    return x\n"
    answer = send(browser, "/tasks/softmax", source=source)
    submission = answer.headers["location"]
    assert ">ada</a>" in browser.get("/").text
    assert submission in browser.get("/you").text
    answer = send(browser, f"{submission}/cancel", page=submission)
    assert answer.headers["location"] == submission
    assert "Cancelled" in browser.get(submission).text
    answer = send(browser, "/sign-out", page="/you")
    assert answer.status_code == 303
    assert browser.get("/you").status_code == 303


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(house: House) -> None:
    house.account("cookie")
    browser = house.browser()
    answer = send(browser, "/sign-in", name="cookie", password=PASSWORD)
    (session,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("kj-session=")]
    assert {"HttpOnly", "Path=/", "SameSite=lax"} <= set(session.split("; "))
    assert "Secure" not in session
    secured = house.client()
    secured.headers["X-Forwarded-Proto"] = "https"
    token = form_token(secured, "/sign-in")
    form = {"csrf": token, "name": "cookie", "password": PASSWORD}
    cookies = "; ".join(f"{k}={v}" for k, v in secured.cookies.items())
    answer = secured.post("/sign-in", data=form, headers={"Cookie": cookies})
    session = next(c for c in answer.headers.get_list("set-cookie") if "kj-session=" in c)
    assert session.startswith("__Host-kj-session=")
    assert "Secure" in session.split("; ")


def test_a_session_from_before_is_worth_nothing_after_signing_in(house: House) -> None:
    """Nobody can fix the secret of a session that somebody else will use."""
    house.account("fixed")
    browser = house.browser()
    browser.cookies.set("kj-session", "chosen-by-somebody-else", domain="127.0.0.1")
    answer = send(browser, "/sign-in", name="fixed", password=PASSWORD)
    assert answer.status_code == 303
    first = browser.cookies["kj-session"]
    assert first != "chosen-by-somebody-else"
    with house.store.read() as session:
        assert session.get(SessionRow, digest("chosen-by-somebody-else")) is None
    send(browser, "/sign-out", page="/you")
    browser.cookies.set("kj-session", first, domain="127.0.0.1")
    assert browser.get("/you").status_code == 303


FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/tasks/softmax", {"source": "x"}),
    ("/submissions/x/cancel", {}),
    ("/sign-out", {}),
    ("/you/tokens", {"name": "x", "days": "1", "scopes": "read"}),
    ("/you/tokens/1/revoke", {}),
    ("/you/password", {"old": PASSWORD, "new": "another horse entirely"}),
    ("/admin/invites", {"uses": "1", "days": "1"}),
    ("/admin/invites/1/revoke", {}),
    ("/admin/users/member", {"role": "admin"}),
)


@pytest.fixture(scope="module")
def admin(house: House) -> httpx.Client:
    house.account("member")
    house.account("master", Role.ADMIN)
    return house.browser("master")


@pytest.mark.parametrize(("path", "fields"), FORMS)
@pytest.mark.parametrize("token", [None, "", "0" * 64, "é"])
def test_a_form_without_this_sessions_token_does_nothing(
    house: House, admin: httpx.Client, path: str, fields: dict[str, str], token: str | None
) -> None:
    sent = fields if token is None else fields | {"csrf": token}
    answer = admin.post(path, data=sent)
    assert answer.status_code == 403
    assert "does not belong to this session" in answer.text


def test_every_form_of_the_templates_sends_a_token() -> None:
    """So that none is forgotten when a page gets a new one."""
    for template in (FRONTEND / "templates").glob("*.html"):
        for form in re.findall(r"<form[^>]*post.*?</form>", template.read_text(), re.DOTALL):
            assert '{% include "_csrf.html" %}' in form, template.name


def test_a_token_of_another_session_is_none(house: House, admin: httpx.Client) -> None:
    other = form_token(house.browser("member"), "/you")
    assert admin.post("/sign-out", data={"csrf": other}).status_code == 403
    assert admin.get("/you").status_code == 200


def test_signing_in_needs_a_form_of_this_browser(house: House) -> None:
    """Otherwise another site could sign somebody in as somebody else."""
    house.account("victim")
    form = {"name": "victim", "password": PASSWORD}
    browser = house.browser()
    assert browser.post("/sign-in", data=form).status_code == 403
    stranger = form_token(house.browser(), "/sign-in")
    assert browser.post("/sign-in", data={**form, "csrf": stranger}).status_code == 403
    token = form_token(browser, "/sign-in")
    foreign = {"Origin": "http://evil.example"}
    answer = browser.post("/sign-in", data={**form, "csrf": token}, headers=foreign)
    assert answer.status_code == 403
    assert "kj-session" not in browser.cookies


def test_a_wrong_name_and_a_wrong_password_look_alike(house: House) -> None:
    house.account("hilda")
    pages = []
    for name in ("hilda", "zelda"):
        answer = send(house.browser(), "/sign-in", name=name, password="wrong guess")
        assert answer.status_code == 401
        page = main_part(answer.text).replace(name, "NAME")
        pages.append(re.sub(r'value="[0-9a-f]{64}"', "", page))
    assert pages[0] == pages[1]
    assert "no account with that name and password" in pages[0]


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "\n//evil.example",
        "javascript:alert(1)",
        "evil.example",
        "http:/evil.example",
        "/é",
        "//[",
        "",
    ],
)
def test_signing_in_leads_nowhere_else(wanted: str) -> None:
    assert path_here(wanted) == "/"


def test_signing_in_leads_back(house: House) -> None:
    house.account("back")
    browser = house.browser()
    page = browser.get("/submissions?task=softmax").headers["location"]
    answer = browser.get(page)
    hidden = re.search(r'name="next" value="([^"]*)"', answer.text)
    assert hidden
    wanted = hidden[1].replace("&amp;", "&")
    answer = send(browser, "/sign-in", next=wanted, name="back", password=PASSWORD)
    assert answer.headers["location"] == "/submissions?task=softmax"
    evil = send(house.browser(), "/sign-in", next="//evil", name="back", password=PASSWORD)
    assert evil.headers["location"] == "/"
    assert browser.get("/sign-in?next=//evil.example").headers["location"] == "/"


def test_without_a_provider_there_is_no_button(house: House) -> None:
    browser = house.browser()
    assert "/sign-in/provider" not in browser.get("/sign-in").text + browser.get("/sign-up").text
    answer = browser.post("/sign-in/provider", data={"csrf": form_token(browser, "/sign-in")})
    assert answer.status_code == 404
    assert "/you/unlink" not in house.browser("member").get("/you").text


def test_a_token_is_shown_once_and_works(house: House) -> None:
    house.account("maker")
    browser = house.browser("maker")
    fields = {"name": "laptop <b>", "days": "3", "scopes": "submit"}
    answer = send(browser, "/you/tokens", page="/you", **fields)
    assert answer.headers["cache-control"] == "no-store"
    page = answer.text
    found = re.search(r"kj_[A-Za-z0-9_-]{43}", page)
    assert found
    assert "laptop &lt;b&gt;" in page
    assert found[0] not in browser.get("/you").text
    assert post(house.client(found[0])).status_code == 202
    number = re.search(r'action="(/you/tokens/\d+/revoke)"', page)
    assert number
    assert send(browser, number[1], page="/you").status_code == 303
    assert post(house.client(found[0])).status_code == 401
    for wrong in ({"days": "0"}, {"days": "x"}, {"name": " "}, {"scopes": "admin"}):
        answer = send(browser, "/you/tokens", page="/you", **(fields | wrong))
        assert answer.status_code in (403, 422)
        assert 'role="alert"' in answer.text


def test_webhooks_are_made_and_listed(house: House) -> None:
    house.account("hooked")
    browser = house.browser("hooked")
    wrong = send(browser, "/you/webhooks", url="http://127.0.0.1/")
    assert wrong.status_code == 422
    assert 'role="alert"' in wrong.text
    page = send(browser, "/you/webhooks", url="https://example.org/<b>?x=1")
    assert page.headers["cache-control"] == "no-store"
    assert "whsec_" in page.text
    listed = browser.get("/you/webhooks").text
    assert "whsec_" not in listed
    assert "https://example.org/&lt;b&gt;?x=1" in listed
    number = re.search(r'action="(/you/webhooks/\d+)/delete"', listed)
    assert number
    assert "Nothing was told yet" in browser.get(number[1]).text
    assert house.browser("member").get(number[1]).status_code == 404
    assert send(browser, f"{number[1]}/delete", page="/you/webhooks").status_code == 303
    assert "example.org" not in browser.get("/you/webhooks").text
    assert house.browser().get("/you/webhooks").headers["location"].startswith("/sign-in")


def test_a_password_is_changed(house: House) -> None:
    house.account("changer")
    browser, other = house.browser("changer"), house.browser("changer")
    wrong = send(browser, "/you/password", page="/you", old="x", new="another horse entirely")
    assert wrong.status_code == 401
    new = "another horse entirely"
    assert send(browser, "/you/password", page="/you", old=PASSWORD, new=new).status_code == 303
    assert browser.get("/you").status_code == 200
    assert other.get("/you").status_code == 303


def test_admins_invite_and_change_accounts(house: House, admin: httpx.Client) -> None:
    page = send(admin, "/admin/invites", page="/admin", uses="2", days="3", note="<i>you</i>").text
    assert f"{house.address}/sign-up?invite=" in page
    assert "&lt;i&gt;you" in page
    house.account("promoted")
    path = "/admin/users/promoted"
    answer = send(admin, path, role="admin", hourly_limit="7")
    assert answer.headers["location"] == path
    assert 'value="7"' in admin.get(path).text
    assert house.browser("promoted").get("/admin").status_code == 200
    assert send(admin, path, role="admin", hourly_limit="-7").status_code == 422
    send(admin, path, role="participant", disabled="on")
    answer = send(house.browser(), "/sign-in", name="promoted", password=PASSWORD)
    assert answer.status_code == 401
    assert send(admin, "/admin/users/master", waiting_limit="9").status_code == 303
    assert admin.get("/admin/users/nobody").status_code == 404


def test_participants_are_no_admins(house: House, admin: httpx.Client) -> None:
    browser = house.browser("member")
    assert "/admin" not in browser.get("/").text
    for path in ("/admin", "/admin/users/member"):
        assert browser.get(path).status_code == 403
    token = form_token(browser, "/you")
    form = {"csrf": token, "role": "admin"}
    assert browser.post("/admin/users/member", data=form).status_code == 403
    assert browser.post("/admin/invites", data=form).status_code == 403


def test_sources_of_others_are_not_on_their_pages(house: House, admin: httpx.Client) -> None:
    secret = "the_secret_of_the_author"
    author = house.person("author")
    name = post(author, source=f"def solve(x):\n    return {secret}\n").json()["id"]
    browser = house.browser("member")
    assert "Cancel</button>" not in browser.get(f"/submissions/{name}").text
    assert "Cancel</button>" in admin.get(f"/submissions/{name}").text
    answer = browser.get(f"/tasks/softmax?origin={name}")
    assert answer.status_code == 403
    assert secret not in answer.text
    assert secret in admin.get(f"/tasks/softmax?origin={name}").text


def test_a_name_that_is_markup_is_shown_as_text(house: House, admin: httpx.Client) -> None:
    """No such name can be made; this one was written into the database."""
    evil = "<img src=x onerror=alert(1)>\u202e"
    with house.store.write() as session:
        row = session.get(UserRow, "member")
        assert row is not None
        copied = {c.name: getattr(row, c.name) for c in UserRow.__table__.columns}
        session.add(UserRow(**(copied | {"name": evil})))
    caller = Caller(evil, frozenset((Scope.READ, Scope.SUBMIT)))
    client = house.client(house.token(caller))
    name = post(client).json()["id"]
    for path in ("/admin", "/submissions", f"/submissions/{name}", f"/admin/users/{evil}"):
        page = admin.get(path)
        assert "<img" not in page.text, path
        assert "&lt;img src=x onerror=alert(1)&gt;" in page.text, path
        assert "\u202e" not in main_part(page.text), path
    with house.store.write() as session:
        row = session.get(UserRow, evil)
        assert row is not None
        row.disabled = True


def test_a_house_with_invitations_asks_for_one() -> None:
    with temporary_settings() as settings, opened(settings, Catalog(), "invite") as house:
        browser = house.browser()
        assert 'value="abc"' in browser.get("/sign-up?invite=abc").text
        answer = send(browser, "/sign-up", name="ada", password=PASSWORD, invite="abc")
        assert answer.status_code == 403
        assert "invitation" in answer.text
        wanted = InviteRequest()
        invite = administration.create_invite(house.store, ADMIN, wanted)
        form = {"name": "ada", "password": PASSWORD, "invite": invite.secret}
        assert send(browser, "/sign-up", **form).status_code == 303


def test_a_house_may_show_everybody_what_others_did() -> None:
    with (
        temporary_settings() as settings,
        opened(replace(settings, public_read=True), Catalog()) as house,
    ):
        name = post(house.person("ada")).json()["id"]
        visitor = house.browser()
        for path in ("/", "/submissions", f"/submissions/{name}", "/boards/softmax/H200"):
            page = visitor.get(path)
            assert page.status_code == 200
            assert "Cancel</button>" not in page.text
        task = visitor.get("/tasks/softmax").text
        assert "Sign in to submit" in task
        assert "Submit</button>" not in task
        form_token(visitor, "/sign-in")
        assert visitor.post("/tasks/softmax", data={"source": "x"}).status_code == 401
        assert visitor.post(f"/submissions/{name}/cancel").status_code == 401
        assert visitor.get("/you").status_code == 303
        assert post(visitor).status_code == 401
        assert visitor.get(f"/api/v1/submissions/{name}").json()["source_visible"] is False
        assert visitor.get(f"/api/v1/submissions/{name}/source").status_code == 403


def test_a_house_without_accounts_has_none_of_this(site: Site) -> None:
    client = site.http
    for path in ("/sign-in", "/sign-up", "/you", "/admin"):
        assert client.get(path).status_code == 404
    assert "/sign-in" not in client.get("/").text
    assert client.get("/api/v1/tokens").status_code == 404
    assert client.get("/api/v1/me").json()["user"] == "local"
