"""Every act of an admin is written down: by whom, on what, and for admins alone to read."""

import json
from typing import Any

import httpx
import pytest

from app.roles import Role
from tests.app.accounts.house import House, send
from tests.app.accounts.test_tokens import refused
from tests.app.api.talking import post

API = "/api/v1"


@pytest.fixture(scope="module")
def boss(house: House) -> httpx.Client:
    """An admin who has done one of everything, in this order."""
    ada, boss = house.person("ada"), house.person("boss", Role.ADMIN)
    boss.patch(f"{API}/users/ada", json={"hourly_limit": 7, "role": "admin"})
    boss.patch(f"{API}/users/ada", json={"disabled": True, "role": "participant"})
    boss.patch(f"{API}/users/ada", json={"disabled": False})
    invite = boss.post(f"{API}/invites", json={"note": "for <b>", "uses": 2}).json()
    boss.delete(f"{API}/invites/{invite['id']}")
    own, others = post(boss).json()["id"], post(ada).json()["id"]
    for submission in (own, others, others):
        assert boss.post(f"{API}/submissions/{submission}/cancel").status_code == 200
    assert boss.delete(f"{API}/users/ada/tokens").status_code == 204
    refused(ada.get(f"{API}/me"), 401, "revoked")
    boss.post(f"{API}/contests", json=CUP)
    return boss


CUP = {
    "name": "cup",
    "title": "Cup",
    "tasks": ["softmax"],
    "device": "H200",
    "starts_at": "2027-01-01T00:00:00Z",
    "ends_at": "2027-01-02T00:00:00Z",
}


def acts(boss: httpx.Client, **wanted: Any) -> list[dict[str, Any]]:
    """What the log holds, newest first."""
    answer = boss.get(f"{API}/audit", params=wanted)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_everything_is_there_once_and_in_order(boss: httpx.Client) -> None:
    found = acts(boss, user="boss")
    assert [act["act"] for act in reversed(found)] == [
        "change account",
        "change account",
        "change account",
        "make invitation",
        "revoke invitation",
        "cancel",
        "revoke tokens",
        "create",
    ]
    first, second = found[-1], found[-2]
    assert first["about"] == second["about"] == "ada"
    assert json.loads(first["detail"]) == {"hourly_limit": 7, "role": "admin"}
    assert json.loads(second["detail"]) == {"disabled": True, "role": "participant"}
    assert "secret" not in json.dumps(found)


def test_filters_and_cursor(boss: httpx.Client) -> None:
    assert [act["contest"] for act in acts(boss, contest="cup")] == ["cup"]
    assert {act["about"] for act in acts(boss, about="ada")} == {"ada"}
    assert [act["user"] for act in acts(boss, act="make account", about="ada")] == ["command line"]
    assert acts(boss, user="nobody") == []
    seen, cursor = [], None
    while True:
        page = boss.get(f"{API}/audit", params={"limit": 2, "cursor": cursor or 2**50}).json()
        seen += [act["id"] for act in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [act["id"] for act in acts(boss)]
    refused(boss.get(f"{API}/audit", params={"user": "\0"}), 422)


def test_it_is_for_admins(house: House, boss: httpx.Client) -> None:
    other = house.person("other")
    refused(other.get(f"{API}/audit"), 403)
    refused(other.delete(f"{API}/users/boss/tokens"), 403)
    refused(boss.delete(f"{API}/users/nobody/tokens"), 404)
    assert house.browser("other").get("/admin/audit").status_code == 403


def test_it_is_a_page_whose_address_holds_the_filters(house: House, boss: httpx.Client) -> None:
    browser = house.browser("boss")
    page = browser.get("/admin/audit?act=make+invitation").text
    assert "for &lt;b&gt;" in page
    assert "<td>revoke tokens</td>" not in page
    assert "<td>revoke tokens</td>" in browser.get("/admin/audit").text
    assert "No act matches" in browser.get("/admin/audit?user=nobody").text
    assert browser.get("/admin/audit?cursor=x").status_code == 422
    answer = send(browser, "/admin/users/ada/tokens", page="/admin/users/ada")
    assert answer.status_code == 303
    assert len(acts(boss, act="revoke tokens")) == 2
