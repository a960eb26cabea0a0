"""A whole contest of twelve participants, from creation to export, on each kind of database."""

import csv
import io
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from app.settings import Settings
from kernels.catalog import Catalog
from tests.app.accounts.test_tokens import refused
from tests.app.contests.playing import API, HOUR, Arena, arena, now, submit, when

CUP = f"{API}/cup"
ALONE = [f"p{number:02d}" for number in range(1, 10)]
TEAM = ["t1", "t2", "t3"]


@pytest.fixture
def play(settings: Settings, catalog: Catalog, database_url: str) -> Iterator[Arena]:
    with arena(replace(settings, database_url=database_url), catalog) as made:
        yield made


def test_a_whole_contest(play: Arena) -> None:
    people = everybody_joins(play)
    names = they_submit(play, people)
    they_race(people["p05"])
    they_talk(play, people)
    hidden = the_board_freezes(play, people)
    the_end(play, names | hidden)
    what_remains(play, people, hidden)


def everybody_joins(play: Arena) -> dict[str, httpx.Client]:
    made = play.contest(
        "cup",
        tasks=["softmax", "matmul"],
        zone="Europe/Berlin",
        description="# Rules\n<script>alert(1)</script>",
        starts_at=when(datetime.now(UTC) + HOUR / 2),
        invited_only=True,
        team_size=3,
        hourly_limit=5,
        final_top=4,
        final_rounds=2,
        open_sources=True,
    )
    assert (made["phase"], made["entrants"], made["invited_only"]) == ("upcoming", 0, True)
    invite = {"invite": made["invite"]}
    people = {name: play.joined(name, "cup", **invite) for name in ALONE}
    first = play.house.person(TEAM[0])
    joined = first.post(f"{CUP}/entrants", json=invite | {"team": "trio"}).json()
    people |= {TEAM[0]: first}
    people |= {name: play.joined(name, "cup", **invite, code=joined["code"]) for name in TEAM[1:]}
    assert len(people) == 12
    refused(submit(people["p01"], "cup"), 403, "has not begun")
    play.change("cup", starts_at=when(datetime.now(UTC) - HOUR))
    assert people["t2"].get(CUP).json()["part"]["members"] == TEAM
    return people


def they_submit(play: Arena, people: dict[str, httpx.Client]) -> dict[str, str]:
    """p01 is fastest at softmax, the team at matmul; p02 is level with p01."""
    names = {}
    for place, name in enumerate(ALONE):
        names[name] = play.judged(people[name], "cup", 10.0 + place if place != 1 else 10.01)
    names["p01 matmul"] = play.judged(people["p01"], "cup", 200.0, task="matmul")
    names["trio"] = play.judged(people["t1"], "cup", 40.0)
    names["trio matmul"] = play.judged(people["t3"], "cup", 100.0, task="matmul")
    found = people["p05"].get(f"{CUP}/standings").json()
    assert not found["frozen"]
    assert not found["final"]
    board = {entry["user"]: entry["rank"] for entry in found["boards"][0]["entries"]}
    assert [board[name] for name in ("p01", "p02", "p03", "trio")] == [1, 1, 3, 10]
    first, second = found["totals"][:2]
    assert (first["entrant"], first["points"]) == ("p01", pytest.approx(1.5))
    assert (second["entrant"], second["points"]) == ("trio", pytest.approx(1.25))
    assert first["low"] < 1.5 < first["high"]
    assert found["own"]["softmax"]["submission"] == names["p05"]
    assert people["t2"].get(f"/api/v1/submissions/{names['trio']}/source").status_code == 200
    return names


def they_race(person: httpx.Client) -> None:
    """One of five was used; of ten that come at once four are taken in, and none given back."""
    gate = threading.Barrier(10)

    def one(_: int) -> httpx.Response:
        gate.wait()
        return submit(person, "cup")

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(one, range(10)))
    taken = [answer.json()["id"] for answer in answers if answer.status_code == 202]
    assert sorted(answer.status_code for answer in answers) == [202] * 4 + [429] * 6
    for name in taken:
        person.post(f"/api/v1/submissions/{name}/cancel")
    refused(submit(person, "cup"), 429, "within an hour")


def they_talk(play: Arena, people: dict[str, httpx.Client]) -> None:
    play.host.post(f"{CUP}/announcements", json={"text": "Lunch at noon."})
    for name, words in (("p01", "Is fp16 meant?"), ("p02", "May I use TMA?")):
        assert people[name].post(f"{CUP}/questions", json={"text": words}).status_code == 201
    second, first = play.host.get(CUP).json()["questions"]
    assert (first["entrant"], second["entrant"]) == ("p01", "p02")
    path = f"{CUP}/questions/{{}}/answer"
    play.host.put(path.format(first["id"]), json={"text": "Yes.", "public": True})
    play.host.put(path.format(second["id"]), json={"text": "You may."})
    seen = {name: people[name].get(CUP).json()["questions"] for name in ("p01", "p02", "p03")}
    assert [len(seen[name]) for name in seen] == [1, 2, 1]
    assert seen["p03"][0]["entrant"] is None
    assert people["p03"].get(CUP).json()["announcements"][0]["text"] == "Lunch at noon."


def the_board_freezes(play: Arena, people: dict[str, httpx.Client]) -> dict[str, str]:
    """p09 becomes the fastest behind the curtain; p03 is disqualified, p04 only for a while."""
    play.change("cup", frozen_at=now())
    secret = play.judged(people["p09"], "cup", 9.0)
    for name in ("p01", "p09"):
        found = people[name].get(f"{CUP}/standings").json()
        assert found["frozen"]
        assert found["boards"][0]["entries"][0]["user"] == "p01"
        assert secret not in [entry["submission"] for entry in found["boards"][0]["entries"]]
    assert found["own"]["softmax"]["submission"] == secret
    host = play.host.get(f"{CUP}/standings").json()
    assert host["boards"][0]["entries"][0]["submission"] == secret
    numbers = {e["name"]: e["number"] for e in play.host.get(f"{CUP}/entrants").json()}
    for name in ("p03", "p04"):
        path = f"{CUP}/entrants/{numbers[name]}/disqualification"
        assert play.host.put(path, json={"reason": "shared code"}).json()["disqualified"]
    play.host.put(path, json={"reason": ""})
    assert people["p03"].get(CUP).json()["part"]["disqualified"] == "shared code"
    refused(submit(people["p03"], "cup"), 403, "disqualified: shared code")
    seen = {e["name"]: e for e in people["p01"].get(f"{CUP}/entrants").json()}
    assert (seen["p03"]["disqualified"], seen["p03"]["reason"]) == (True, "")
    assert not seen["p04"]["disqualified"]
    return {"p09": secret}


def the_end(play: Arena, names: dict[str, str]) -> None:
    """The best four of each task are measured again; p09 was lucky."""
    refused(play.host.post(f"{CUP}/finals"), 409, "ends at")
    play.change("cup", ends_at=now())
    refused(play.host.post(f"{CUP}/close", json={}), 409, "not measured again")
    asked = play.host.post(f"{CUP}/finals").json()
    tasks = {rerun["task"]: rerun["rerun"] for rerun in asked["reruns"]}
    assert sorted(tasks) == ["matmul", "softmax"]
    best = [names[name] for name in ("p09", "p01", "p02", "p04")]
    assert sorted(asked["missing"]["softmax"]) == sorted(best)
    play.measured_again(tasks["softmax"], dict(zip(best, (12.0, 10.0, 10.4, 13.0), strict=True)))
    matmul = (names["p01 matmul"], names["trio matmul"])
    play.measured_again(tasks["matmul"], dict(zip(matmul, (200.0, 100.0), strict=True)))
    assert play.host.get(f"{CUP}/finals").json()["missing"] == {}
    final = play.host.post(f"{CUP}/close", json={}).json()
    assert final["final"]
    assert [total["entrant"] for total in final["totals"][:2]] == ["p01", "trio"]
    softmax = {entry["user"]: entry for entry in final["boards"][0]["entries"]}
    assert softmax["p09"]["score"] > softmax["p01"]["score"]
    assert softmax["p01"]["sittings"] == 3
    assert softmax["p09"]["low"] < softmax["p09"]["score"] < softmax["p09"]["high"]
    assert "p03" not in softmax
    refused(play.host.patch(CUP, json={"title": "other"}), 409, "final")
    refused(play.host.post(f"{CUP}/close", json={}), 409, "final")
    for table in ("contest_finals", "audit"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET at = at"):
            with (
                pytest.raises(DatabaseError, match="never changed"),
                play.house.store.write() as session,
            ):
                session.execute(text(statement))


def what_remains(play: Arena, people: dict[str, httpx.Client], hidden: dict[str, str]) -> None:
    final = people["p07"].get(f"{CUP}/standings").json()
    assert final == play.host.get(f"{CUP}/standings").json()
    rows = list(csv.DictReader(io.StringIO(people["p07"].get(f"{CUP}/standings.csv").text)))
    assert [row["entrant"] for row in rows] == [t["entrant"] for t in final["totals"]]
    assert float(rows[0]["softmax us"]) == final["boards"][0]["entries"][0]["score"]
    assert rows[-1]["matmul us"] == ""
    packed = zipfile.ZipFile(io.BytesIO(people["p07"].get(f"{CUP}/sources.zip").content))
    assert f"softmax/p09-{hidden['p09']}.py" in packed.namelist()
    assert "matmul/trio-" in " ".join(packed.namelist())
    assert len(packed.namelist()) == 9 + 2
    assert people["p07"].get(f"/api/v1/submissions/{hidden['p09']}/source").status_code == 200
    board = people["p07"].get("/api/v1/boards/softmax/H200").json()
    assert board["total"] == 10, "p03, whose submission was accepted, and t1 for the team"
    acts = play.host.get(f"{CUP}/audit").json()
    assert [act["act"] for act in acts] == EXPECTED_ACTS
    assert {act["user"] for act in acts} == {"host"}


EXPECTED_ACTS: list[Any] = [
    *("create", "change", "announce", "answer", "answer", "change"),
    *("disqualify", "disqualify", "reinstate", "change", "remeasure", "close"),
]
