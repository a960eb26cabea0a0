"""Tokens over HTTP: what each opens, and everything that opens nothing."""

import httpx
import pytest
from sqlalchemy import update

from app import clock
from app.accounts import administration
from app.accounts.callers import Caller
from app.accounts.schemas import AccountChange
from app.accounts.tokens import MOST, TokenRequest, create_token
from app.errors import Conflict, Forbidden, Invalid
from app.roles import Role, Scope
from app.store.account_tables import TokenRow
from tests.app.accounts.house import House
from tests.app.api.talking import post

ADMIN = Caller("boss", frozenset(Scope))
FOR_ALL = ("/api/v1/health", "/api/v1/openapi.json")


NO_INVITATIONS = (
    b"{",
    b"[" * 100_000,
    b'{"note": "\xff"}',
    b'{"note": "\\ud800"}',
    b'{"note": "\\u0000"}',
    b'{"uses": 1e999}',
    b'{"uses": ' + b"9" * 5000 + b"}",
    b'{"uses": 1, "more": 1}',
)


def refused(answer: httpx.Response, status: int, word: str = "") -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert word in answer.json()["detail"]
    assert answer.json()["next_step"]
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"


def test_every_route_of_the_api_asks_who_is_there(house: House) -> None:
    """Whatever the description lists, so that a new route cannot be forgotten."""
    nobody = house.client()
    paths = nobody.get("/api/v1/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method in methods:
            if path in FOR_ALL:
                continue
            address = path.replace("{number}", "1").replace("{token}", "1")
            answer = nobody.request(method, address.replace("{invite}", "1"), json={})
            assert answer.status_code in (401, 422), (method, path)
            if method == "get":
                refused(answer, 401)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Basic YTpi",
        "Bearer kj_unknown",
        "Bearer \x80",
        "bearer kj_" + "x" * 9000,
    ],
)
def test_what_is_no_token_opens_nothing(house: House, header: str) -> None:
    headers = [(b"Authorization", header.encode("latin-1"))]
    with httpx.Client(base_url=house.address, headers=headers) as client:
        refused(client.get("/api/v1/me"), 401)
        refused(post(client), 401)


def test_a_token_says_whose_it_is(house: House) -> None:
    ada = house.person("ada")
    me = ada.get("/api/v1/me").json()
    assert (me["user"], me["role"], me["scopes"]) == ("ada", "participant", ["read", "submit"])
    assert post(ada).json()["user"] == "ada"
    (token,) = ada.get("/api/v1/tokens").json()
    assert token["usable"]
    assert token["used_at"]
    assert not {"secret", "digest"} & token.keys()


def test_scopes_are_kept(house: House) -> None:
    caller = house.account("scoped")
    reads = house.client(house.token(caller, Scope.READ))
    submits = house.client(house.token(caller, Scope.SUBMIT))
    assert reads.get("/api/v1/submissions").status_code == 200
    refused(post(reads), 403, "scope submit")
    name = post(submits).json()["id"]
    refused(submits.get(f"/api/v1/submissions/{name}"), 403, "scope read")
    refused(reads.post(f"/api/v1/submissions/{name}/cancel"), 403, "scope submit")
    assert submits.post(f"/api/v1/submissions/{name}/cancel").status_code == 200


def test_a_token_can_do_no_more_than_its_account(house: House) -> None:
    caller = house.account("modest")
    with pytest.raises(Forbidden):
        house.token(caller, Scope.ADMIN)
    boss = house.account("chief", Role.ADMIN)
    secret = house.token(boss)
    assert house.client(secret).get("/api/v1/users").status_code == 200
    lower = AccountChange(role=Role.PARTICIPANT)
    administration.change_account(house.store, ADMIN, "chief", lower)
    refused(house.client(secret).get("/api/v1/users"), 403, "admins")


def test_an_admins_token_without_the_scope_is_no_admins(house: House) -> None:
    boss = house.account("careful", Role.ADMIN)
    client = house.client(house.token(boss, Scope.READ, Scope.SUBMIT))
    refused(client.get("/api/v1/users"), 403)
    refused(client.post("/api/v1/invites", json={}), 403)
    name = post(house.person("author")).json()["id"]
    refused(client.get(f"/api/v1/submissions/{name}/source"), 403)


def test_revoked_expired_and_disabled_tokens_open_nothing(house: House) -> None:
    caller = house.account("eve")
    secret = house.token(caller)
    client = house.client(secret)
    (token,) = client.get("/api/v1/tokens").json()
    assert client.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
    refused(client.get("/api/v1/me"), 401, "revoked")

    old = house.client(house.token(caller))
    with house.store.write() as session:
        session.execute(
            update(TokenRow).where(TokenRow.user == "eve").values(expires_at=clock.now())
        )
    refused(old.get("/api/v1/me"), 401, "expired")

    last = house.client(house.token(caller))
    administration.change_account(house.store, ADMIN, "eve", AccountChange(disabled=True))
    refused(last.get("/api/v1/me"), 401, "disabled")


def test_tokens_of_others_cannot_be_revoked(house: House) -> None:
    mine, other = house.person("owner"), house.person("stranger")
    (token,) = mine.get("/api/v1/tokens").json()
    refused(other.delete(f"/api/v1/tokens/{token['id']}"), 404)
    refused(other.delete("/api/v1/tokens/99999999999999999999999"), 422)
    assert mine.get("/api/v1/me").status_code == 200


def test_others_cannot_cancel(house: House) -> None:
    name = post(house.person("busy")).json()["id"]
    refused(house.person("rival").post(f"/api/v1/submissions/{name}/cancel"), 403, "not yours")
    admin = house.person("referee", Role.ADMIN)
    assert admin.post(f"/api/v1/submissions/{name}/cancel").json()["verdict"] == "cancelled"


def test_idempotency_keys_of_two_users_are_two(house: House) -> None:
    headers = {"Idempotency-Key": "k"}
    first, second = post(house.person("kay"), headers), post(house.person("key"), headers)
    assert (first.status_code, second.status_code) == (202, 202)


def test_tokens_are_limited_in_number_and_life(house: House) -> None:
    caller = house.account("hoarder")
    for _ in range(MOST):
        house.token(caller)
    with pytest.raises(Conflict):
        house.token(caller)
    reading = frozenset((Scope.READ,))
    for wanted in (
        TokenRequest("", reading, 1),
        TokenRequest("a\nb", reading, 1),
        TokenRequest("x", reading, 0),
        TokenRequest("x", reading, 366),
        TokenRequest("x", frozenset(), 1),
    ):
        with pytest.raises(Invalid):
            create_token(house.store, caller, wanted)


def test_health_is_for_all_but_names_are_not(house: House) -> None:
    assert house.client().get("/api/v1/health").json()["queues"] == []
    assert house.person("healthy").get("/api/v1/health").json()["queues"]


def test_admins_look_after_accounts_and_invitations(house: House) -> None:
    admin = house.person("warden", Role.ADMIN)
    house.account("zoe")
    names = [account["name"] for account in admin.get("/api/v1/users").json()]
    assert names == sorted(names)
    assert [a["name"] for a in admin.get("/api/v1/users?after=zod").json()] == ["zoe"]
    changed = admin.patch("/api/v1/users/zoe", json={"hourly_limit": 3}).json()
    assert (changed["hourly_limit"], changed["role"]) == (3, "participant")
    assert (
        admin.patch("/api/v1/users/zoe", json={"hourly_limit": None}).json()["hourly_limit"] is None
    )
    refused(admin.patch("/api/v1/users/nobody", json={}), 404)
    refused(admin.patch("/api/v1/users/zoe", json={"role": "god"}), 422)
    refused(admin.patch("/api/v1/users/zoe", json={"hourly_limit": -1}), 422)
    refused(admin.patch("/api/v1/users/warden", json={"disabled": True}), 409)
    made = admin.post("/api/v1/invites", json={"uses": 2}).json()
    assert made["secret"] in made["path"]
    assert "secret" not in admin.get("/api/v1/invites").json()["items"][0]
    assert admin.delete(f"/api/v1/invites/{made['id']}").status_code == 204
    assert admin.get("/api/v1/invites").json()["items"][0]["uses_left"] == 0
    refused(admin.delete("/api/v1/invites/999"), 404)
    admin.post("/api/v1/invites", json={})
    newest = admin.get("/api/v1/invites", params={"limit": 1}).json()
    older = admin.get("/api/v1/invites", params={"cursor": newest["next_cursor"]}).json()
    assert [made["id"]] == [invite["id"] for invite in older["items"]]
    assert older["next_cursor"] is None


@pytest.mark.parametrize("number", range(len(NO_INVITATIONS)))
def test_what_is_no_invitation_is_refused(house: House, number: int) -> None:
    admin = house.person(f"host{number}", Role.ADMIN)
    headers = {"Content-Type": "application/json"}
    answer = admin.post("/api/v1/invites", content=NO_INVITATIONS[number], headers=headers)
    assert answer.status_code in (400, 422)
    refused(answer, answer.status_code)


def test_a_browser_may_read_the_api_but_not_change_anything(house: House) -> None:
    house.account("surfer")
    browser = house.browser("surfer")
    assert browser.get("/api/v1/me").json()["user"] == "surfer"
    refused(post(browser), 401)
