"""The end of a contest where not everything passes again, and where it cannot be measured."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kernels.catalog import Catalog
from kernels.contract import Verdict
from tests.app.accounts.test_tokens import refused
from tests.app.conftest import temporary_settings
from tests.app.contests.playing import API, Arena, arena, now


@pytest.fixture(scope="module")
def play() -> Iterator[Arena]:
    """Nobody measures by itself here, so no board asks for further sittings of its top."""
    with temporary_settings() as settings:
        quiet = replace(settings, confirm_top=0)
        with arena(quiet, Catalog()) as made:
            yield made


def missing(play: Arena, contest: str) -> list[str]:
    found = play.host.get(f"{API}/{contest}/finals").json()["missing"]
    return list(found.get("softmax", []))


def test_what_fails_then_is_held_and_the_next_best_is_measured(play: Arena) -> None:
    play.contest("held", final_top=2, final_rounds=1)
    ada, bob = play.joined("ada", "held"), play.joined("bob", "held")
    solid, lucky = play.judged(ada, "held", 12.0), play.judged(ada, "held", 10.0)
    rival = play.judged(bob, "held", 11.0)
    play.change("held", ends_at=now())
    (first,) = play.host.post(f"{API}/held/finals").json()["reruns"]
    assert missing(play, "held") == [lucky, rival]
    again = play.host.post(f"{API}/held/finals").json()["reruns"]
    assert again == [first], "what is under way is not asked for twice"
    verdicts = {lucky: Verdict.WRONG_ANSWER}
    play.measured_again(first["rerun"], {lucky: 10.0, rival: 11.0}, verdicts)
    assert missing(play, "held") == [solid]
    refused(play.host.post(f"{API}/held/close", json={}), 409, "not measured again")
    second = play.host.post(f"{API}/held/finals").json()["reruns"][1]
    play.measured_again(second["rerun"], {solid: 12.0, rival: 11.0})
    assert missing(play, "held") == []
    final = play.host.post(f"{API}/held/close", json={}).json()
    assert final["unmeasured"] == {}
    places = [(e["user"], e["submission"]) for e in final["boards"][0]["entries"]]
    assert places == [("bob", rival), ("ada", solid)]


def test_rivals_do_not_learn_of_each_other_by_being_measured_together(play: Arena) -> None:
    play.contest("masked", final_top=2, final_rounds=1)
    fay, gil = play.joined("fay", "masked"), play.joined("gil", "masked")
    own, other = play.judged(fay, "masked", 8.0), play.judged(gil, "masked", 9.0)
    play.change("masked", ends_at=now())
    (rerun,) = play.host.post(f"{API}/masked/finals").json()["reruns"]
    path = f"/api/v1/reruns/{rerun['rerun']}"
    assert set(play.host.get(path).json()["submissions"]) == {own, other}
    assert fay.get(path).json()["submissions"] == [own]
    (mine,) = gil.get(f"/api/v1/submissions/{other}/reruns").json()
    assert mine["submissions"] == [other]
    refused(play.house.person("onlooker").get(path), 404, "no rerun")
    play.measured_again(rerun["rerun"], {own: 8.0, other: 9.0})
    play.host.post(f"{API}/masked/close", json={})
    assert set(gil.get(path).json()["submissions"]) == {own, other}


def test_the_luckiest_of_equal_work_does_not_count(play: Arena) -> None:
    """What was measured again counts, though a twin that was not looks faster then."""
    play.contest("twins", final_rounds=2)
    eve = play.joined("eve", "twins")
    first, twin = play.judged(eve, "twins", 9.0), play.judged(eve, "twins", 9.1)
    play.change("twins", ends_at=now())
    (rerun,) = play.host.post(f"{API}/twins/finals").json()["reruns"]
    play.measured_again(rerun["rerun"], {first: 10.0})
    (entry,) = play.host.post(f"{API}/twins/close", json={}).json()["boards"][0]["entries"]
    assert entry["submission"] == first != twin
    assert entry["score"] > 9.1


def test_a_contest_closes_without_a_measurer_when_told_to(play: Arena) -> None:
    play.contest("lost")
    zoe = play.joined("zoe", "lost")
    name = play.judged(zoe, "lost", 8.0)
    play.change("lost", ends_at=now())
    assert play.host.get(f"{API}/lost/standings").json()["unmeasured"] == {}, "not final"
    refused(play.host.post(f"{API}/lost/close", json={}), 409, "not measured again")
    play.host.post(f"{API}/lost/finals")
    refused(play.host.post(f"{API}/lost/close", json={}), 409, "are being measured again")
    assert (
        "although some may be missing" in play.house.browser("host").get("/contests/lost/host").text
    )
    final = play.host.post(f"{API}/lost/close", json={"unmeasured": True}).json()
    assert final["boards"][0]["entries"][0]["submission"] == name
    last = play.host.get(f"{API}/lost/audit").json()[-1]
    assert last["act"] == "close"
    assert name in last["detail"]
    assert zoe.get(f"{API}/lost/standings").json()["unmeasured"] == {"softmax": [name]}
    page = play.house.browser("zoe").get("/contests/lost/standings").text
    assert "1 of the best of" in page
    assert "<small>not measured again</small>" in page
    line = zoe.get(f"{API}/lost/standings.csv").text.splitlines()[1]
    assert line.endswith(",softmax")


def test_an_empty_contest_closes(play: Arena) -> None:
    play.contest("empty")
    play.change("empty", ends_at=now())
    assert play.host.post(f"{API}/empty/finals").json() == {"reruns": [], "missing": {}}
    final = play.host.post(f"{API}/empty/close", json={}).json()
    assert (final["totals"], final["final"]) == ([], True)
    text = play.host.get(f"{API}/empty/standings.csv").text
    assert text.splitlines()[0].startswith("rank,entrant,points")


def test_the_list_of_contests_goes_on_where_it_ended(play: Arena) -> None:
    for name in ("first", "second", "third"):
        play.contest(name, starts_at="2020-01-01T00:00:00Z")
    found, cursor = list[str](), None
    while cursor or not found:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = play.host.get(API, params=params).json()
        found += [contest["name"] for contest in page["items"]]
        cursor = page["next_cursor"]
    assert found[-3:] == ["first", "second", "third"]
    assert len(set(found)) == len(found)
    refused(play.host.get(API, params={"cursor": "nowhere"}), 404, "no contest")
    refused(play.host.get(API, params={"cursor": "No!"}), 422)
    assert "second" not in play.house.browser("host").get("/contests?cursor=second").text
