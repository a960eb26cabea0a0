"""What participants and strangers try in a contest, and do not get."""

import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import update

from app.store.contest_tables import EntrantRow, EntryRow
from kernels.catalog import Catalog
from tests.app.accounts.test_tokens import refused
from tests.app.api.talking import post
from tests.app.conftest import temporary_settings
from tests.app.contests.playing import API, HOUR, Arena, arena, now, submit, when

EARLY = when(datetime.now(UTC) + HOUR / 2)


@pytest.fixture(scope="module")
def play() -> Iterator[Arena]:
    with temporary_settings() as settings, arena(settings, Catalog()) as made:
        yield made


def test_nobody_submits_outside_the_window_or_from_outside(play: Arena) -> None:
    play.contest("window", starts_at=EARLY)
    ada = play.joined("ada", "window")
    refused(submit(ada, "window"), 403, "has not begun")
    play.change("window", starts_at=when(datetime.now(UTC) - HOUR))
    refused(submit(play.house.person("stranger"), "window"), 403, "does not take part")
    refused(submit(ada, "window", task="matmul"), 422, "is not of contest")
    refused(submit(ada, "window", device="H100"), 422, "is about an H200")
    refused(submit(ada, "nowhere"), 404, "no contest")
    refused(submit(ada, "../window"), 422)
    refused(submit(play.house.client(), "window"), 401)
    play.change("window", ends_at=now())
    refused(submit(ada, "window"), 403, "is over")
    refused(play.house.person("late").post(f"{API}/window/entrants", json={}), 403, "is over")


def test_a_repeated_request_enters_once_and_not_elsewhere(play: Arena) -> None:
    play.contest("again", hourly_limit=1)
    ada = play.joined("repeater", "again")
    key = {"Idempotency-Key": "one"}
    first = post(ada, key, contest="again")
    assert post(ada, key, contest="again").json()["id"] == first.json()["id"]
    refused(post(ada, key), 409, "another one")
    refused(submit(ada, "again"), 429, "within an hour")
    ada.post(f"/api/v1/submissions/{first.json()['id']}/cancel")
    answer = submit(ada, "again")
    refused(answer, 429, "within an hour")
    assert 3000 < int(answer.headers["retry-after"]) <= 3600


def test_a_sealed_submission_is_nowhere_to_be_seen(play: Arena) -> None:
    """Not its code, and not that it is there: in no list, on no board, by no way of asking."""
    play.contest("sealed", frozen_at=when(datetime.now(UTC) - HOUR / 2))
    author, rival = play.joined("author", "sealed"), play.joined("rival", "sealed")
    name = play.judged(author, "sealed", 5.0)
    other = play.judged(rival, "sealed", 7.0)
    path = f"/api/v1/submissions/{name}"
    for reader in (rival, play.house.person("onlooker")):
        for part in ("", "/source", "/plan", "/samples.csv", "/badge.svg", "/events"):
            refused(reader.get(path + part), 404, "no submission")
        for part in ("/sittings", "/sittings/0", "/reruns"):
            refused(reader.get(path + part), 404, "no submission")
        for part in ("/cancel", "/remeasure", "/inspections"):
            refused(reader.post(path + part, json={"kind": "memcheck"}), 404, "no submission")
        refused(reader.get(f"/api/v1/comparisons/{other}/{name}"), 404)
        for query in ("", "?user=author", "?task=softmax&verdict=accepted"):
            found = reader.get(f"/api/v1/submissions{query}").json()["items"]
            assert name not in [item["id"] for item in found]
        assert "author" not in reader.get("/api/v1/boards/softmax/H200").text
        assert "author" not in reader.get(f"{API}/sealed/standings").text
        assert "author" not in reader.get(f"{API}/sealed/standings.csv").text
        refused(reader.get(f"{API}/sealed/sources.zip"), 403, "for its hosts")
    assert author.get(path).json()["source_visible"]
    assert author.get("/api/v1/submissions?user=author").json()["items"][0]["id"] == name
    assert author.get(f"{API}/sealed/standings").json()["own"]["softmax"]["score"] == 5.0
    assert name in play.host.get("/api/v1/submissions").text
    play.change("sealed", ends_at=now())
    assert play.host.post(f"{API}/sealed/close", json={"unmeasured": True}).status_code == 200
    assert not rival.get(path).json()["source_visible"]
    refused(rival.get(f"{path}/source"), 403)
    refused(rival.get(f"{API}/sealed/sources.zip"), 403, "for its hosts")
    board = rival.get("/api/v1/boards/softmax/H200").json()["entries"]
    assert [entry["user"] for entry in board[:2]] == ["author", "rival"]


def test_invitations_open_one_contest_and_go_stale(play: Arena) -> None:
    first = play.contest("first", invited_only=True, team_size=2)
    second = play.contest("second", invited_only=True, team_size=2)
    eve = play.house.person("eve")
    for wrong in ({}, {"invite": "x"}, {"invite": second["invite"]}):
        refused(eve.post(f"{API}/first/entrants", json=wrong), 403, "opens nothing here")
    old = {"invite": first["invite"]}
    fresh = {"invite": play.host.post(f"{API}/first/invite").json()["invite"]}
    refused(eve.post(f"{API}/first/entrants", json=old), 403)
    code = eve.post(f"{API}/first/entrants", json=fresh | {"team": "evil"}).json()["code"]
    refused(eve.post(f"{API}/first/entrants", json=fresh), 409, "already")
    mal = play.house.person("mal")
    stolen = {"invite": second["invite"], "code": code}
    refused(mal.post(f"{API}/second/entrants", json=stolen), 403, "opens no team")
    refused(mal.post(f"{API}/first/entrants", json={"code": code}), 403, "opens nothing")
    assert mal.post(f"{API}/first/entrants", json=fresh | {"code": code}).status_code == 201
    third = play.house.person("third")
    refused(third.post(f"{API}/first/entrants", json=fresh | {"code": code}), 409, "2 members")
    named = fresh | {"team": "eve"}
    refused(third.post(f"{API}/first/entrants", json=named), 409, "account's name")
    refused(third.post(f"{API}/first/entrants", json=fresh | {"team": "evil"}), 409, "taken")
    both = fresh | {"team": "x1", "code": code}
    refused(third.post(f"{API}/first/entrants", json=both), 422, "not both")
    for secret in (fresh["invite"], code):
        for path in ("", "/entrants", "/standings"):
            assert secret not in play.host.get(f"{API}/first{path}").text
        assert secret not in play.host.get(f"{API}/first/audit").text


def test_participants_are_no_hosts(play: Arena) -> None:
    play.contest("quiet")
    ada = play.joined("ambitious", "quiet")
    number = ada.get(f"{API}/quiet/entrants").json()[0]["number"]
    acts: tuple[tuple[str, str, dict[str, object]], ...] = (
        ("POST", "", {"name": "mine", "title": "x", "tasks": ["softmax"], "device": "H200"}),
        ("PATCH", "/quiet", {"title": "mine"}),
        ("POST", "/quiet/invite", {}),
        ("POST", "/quiet/announcements", {"text": "x"}),
        ("PUT", "/quiet/questions/1/answer", {"text": "x"}),
        ("PUT", f"/quiet/entrants/{number}/disqualification", {"reason": "x"}),
        ("POST", "/quiet/finals", {}),
        ("POST", "/quiet/close", {"unmeasured": True}),
    )
    for method, path, body in acts:
        body |= {"starts_at": now(), "ends_at": EARLY} if not path else {}
        refused(ada.request(method, API + path, json=body), 403, "admins")
    for path in ("finals", "audit"):
        refused(ada.get(f"{API}/quiet/{path}"), 403, "admins")
    assert [act["act"] for act in play.host.get(f"{API}/quiet/audit").json()] == ["create"]
    stranger = play.house.person("curious")
    refused(stranger.post(f"{API}/quiet/questions", json={"text": "?"}), 403, "take part")
    for _ in range(5):
        assert ada.post(f"{API}/quiet/questions", json={"text": "?"}).status_code == 201
    refused(ada.post(f"{API}/quiet/questions", json={"text": "?"}), 429)
    assert stranger.get(f"{API}/quiet").json()["questions"] == []
    asked = play.host.get(f"{API}/quiet").json()["questions"][0]["id"]
    play.contest("elsewhere")
    wrong = play.host.put(f"{API}/elsewhere/questions/{asked}/answer", json={"text": "x"})
    refused(wrong, 404, "no question")
    path = f"{API}/elsewhere/entrants/{number}/disqualification"
    refused(play.host.put(path, json={"reason": "x"}), 404, "no entrant")


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "../up"},
        {"name": "Upper"},
        {"tasks": ["nothing"]},
        {"tasks": ["softmax", "softmax"]},
        {"tasks": []},
        {"zone": "Mars/Base"},
        {"zone": "../../etc/passwd"},
        {"ends_at": "2001-01-01T00:00:00Z"},
        {"ends_at": "9999-12-31T23:59:59-14:00"},
        {"ends_at": "2027-01-01T00:00:00"},
        {"frozen_at": "2101-01-01T00:00:00Z"},
        {"final_top": 17},
        {"team_size": 0},
        {"description": "\0"},
        {"title": "two\nlines"},
    ],
)
def test_what_is_no_contest_is_refused(play: Arena, fields: dict[str, object]) -> None:
    wanted = {
        "name": "fine",
        "title": "t",
        "tasks": ["softmax"],
        "device": "H200",
        "starts_at": "2026-01-01T00:00:00Z",
        "ends_at": "2100-01-01T00:00:00Z",
    }
    refused(play.host.post(API, json=wanted | fields), 422)


@pytest.mark.parametrize(
    "name", ["../../etc", "a/b", "C:\\x", "a\0b", "con.py", "=cmd()", "Ada", "é", "-rf", ""]
)
def test_what_is_no_name_of_a_team_is_refused(play: Arena, named: httpx.Client, name: str) -> None:
    refused(named.post(f"{API}/names/entrants", json={"team": name}), 422)


def test_the_zip_holds_plain_names(play: Arena, named: httpx.Client) -> None:
    """Also of names that no form takes, such as those from another release."""
    named.post(f"{API}/names/entrants", json={"team": "team"})
    play.judged(named, "names", 3.0)
    with play.house.store.write() as session:
        session.execute(update(EntrantRow).where(EntrantRow.name == "team").values(name="../é/C:"))
    content = play.host.get(f"{API}/names/sources.zip").content
    (packed,) = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert packed.startswith("softmax/_____C_-")


@pytest.fixture(scope="module")
def named(play: Arena) -> httpx.Client:
    """Somebody who may make a team."""
    play.contest("names", team_size=2)
    return play.house.person("namer")


def test_who_leaves_is_on_no_board_and_comes_back_as_nobody_else(play: Arena) -> None:
    play.contest("leaving", team_size=3)
    leaver = play.joined("leaver", "leaving")
    mine = play.judged(leaver, "leaving", 10.0)
    path = f"{API}/leaving"
    assert on_board(leaver, path) == ["leaver"]
    assert leaver.post(f"{path}/leave").json() == {
        "entrant": "leaver",
        "stays": False,
        "bound": True,
    }
    assert on_board(leaver, path) == []
    assert leaver.get(f"{path}/entrants").json() == []
    assert leaver.get(path).json()["entrants"] == 0
    assert leaver.get(path).json()["part"] is None
    assert leaver.get(f"/api/v1/submissions/{mine}").status_code == 200, "one's own"
    refused(play.house.person("looker").get(f"/api/v1/submissions/{mine}"), 404)
    refused(leaver.post(f"{path}/leave"), 404)
    refused(submit(leaver, "leaving"), 403, "does not take part")
    refused(leaver.post(f"{path}/entrants", json={"team": "fresh"}), 409, "made as leaver")
    assert leaver.post(f"{path}/entrants", json={}).json()["part"]["entrant"] == "leaver"
    assert on_board(leaver, path) == ["leaver"]
    play.change("leaving", ends_at=now())
    refused(leaver.post(f"{path}/leave"), 409, "is over")


def test_what_is_judged_again_for_an_entrant_counts_from_then(play: Arena) -> None:
    play.contest("errors")
    unlucky = play.joined("unlucky", "errors")
    first = submit(unlucky, "errors").json()["id"]
    unlucky.post(f"/api/v1/submissions/{first}/cancel")
    play.change("errors", ends_at=now())
    path = f"/api/v1/submissions/{first}/rejudge"
    refused(unlucky.post(path), 403, "is over")
    again = play.host.post(path).json()
    assert again["user"] == "unlucky"
    listed = unlucky.get("/api/v1/submissions", params={"contest": "errors"}).json()["items"]
    assert [item["id"] for item in listed] == [again["id"], first]
    with play.house.store.read() as session:
        made = {row.submission: row.at for row in session.query(EntryRow)}
    assert made[again["id"]] == made[first]


def test_a_team_keeps_what_was_made_for_it(play: Arena) -> None:
    play.contest("teams", team_size=3)
    path = f"{API}/teams"
    first, second = play.house.person("first"), play.house.person("second")
    code = first.post(f"{path}/entrants", json={"team": "pair"}).json()["code"]
    second.post(f"{path}/entrants", json={})
    assert second.post(f"{path}/leave").json()["bound"] is False
    assert second.post(f"{path}/entrants", json={"code": code}).status_code == 201
    names = [play.judged(person, "teams", 10.0 + n) for n, person in enumerate((first, second))]
    assert first.post(f"{path}/leave").json()["stays"] is True
    assert on_board(second, path) == ["pair"]
    assert [second.get(f"/api/v1/submissions/{name}/source").status_code for name in names] == [
        200,
        200,
    ]
    assert [first.get(f"/api/v1/submissions/{name}").status_code for name in names] == [200, 404]
    refused(first.post(f"{path}/entrants", json={}), 409, "made as pair")
    assert first.post(f"{path}/entrants", json={"code": code}).status_code == 201
    assert first.get(f"/api/v1/submissions/{names[1]}/source").status_code == 200
    number = next(e["number"] for e in play.host.get(f"{path}/entrants").json())
    play.host.put(f"{path}/entrants/{number}/disqualification", json={"reason": "shared"})
    assert on_board(second, path) == []
    refused(first.post(f"{path}/leave"), 403, "disqualified")


def test_a_list_holds_what_was_made_for_a_contest(play: Arena) -> None:
    play.contest("listed")
    lister = play.joined("lister", "listed")
    mine = submit(lister, "listed").json()["id"]
    post(lister)

    def listed(person: httpx.Client, contest: str = "listed") -> list[str]:
        found = person.get("/api/v1/submissions", params={"contest": contest}).json()
        return [item["id"] for item in found["items"]]

    assert listed(lister) == listed(play.host) == [mine]
    assert listed(play.house.person("bystander")) == []
    assert listed(lister, "nothing") == []
    browser = play.house.browser("lister")
    assert f"/submissions/{mine}" in browser.get("/submissions?contest=listed").text
    assert '<option value="listed" selected' in browser.get("/submissions?contest=listed").text
    assert "Leave the contest" in browser.get("/contests/listed").text


def on_board(person: httpx.Client, path: str) -> list[str]:
    """Who stands on the first board of a contest; asked twice, since it is kept in between."""
    found = [person.get(f"{path}/standings").json()["boards"][0]["entries"] for _ in range(2)]
    assert found[0] == found[1]
    return [entry["user"] for entry in found[0]]
