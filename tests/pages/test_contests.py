"""A contest on pages: made, joined, asked in, hosted and read, with plain forms alone."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from app.pages.contest_forms import LABELS
from app.roles import Role
from kernels.catalog import Catalog
from tests.app.accounts.house import House, form_token, opened, send
from tests.app.conftest import temporary_settings

SOURCE = "import triton\n\ndef solve(x):\n    return x\n"
HOST = "/contests/cup/host"


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with temporary_settings() as settings, opened(settings, Catalog()) as house:
        yield house


@pytest.fixture(scope="module")
def host(house: House) -> httpx.Client:
    house.account("host", Role.ADMIN)
    return house.browser("host")


def fields(**changed: str) -> dict[str, str]:
    """A filled in form: a contest that runs, its times local to Tokyo."""
    now = datetime.now(UTC) + timedelta(hours=9)
    return {
        "name": "cup",
        "title": "The <i>cup</i>",
        "description": "# Rules\r\n\r\n<script>alert(1)</script>",
        "tasks": "softmax",
        "device": "H200",
        "team_size": "2",
        "invited_only": "on",
        "zone": "Asia/Tokyo",
        "starts_at": f"{now - timedelta(hours=1):%Y-%m-%dT%H:%M}",
        "ends_at": f"{now + timedelta(hours=1, minutes=30):%Y-%m-%dT%H:%M}",
        "frozen_at": "",
        "hourly_limit": "4",
        "final_top": "5",
        "final_rounds": "2",
    } | changed


@pytest.fixture(scope="module")
def invite(host: httpx.Client) -> str:
    """The code of a new contest."""
    answer = send(host, "/contests", **fields())
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found = re.search(r"<pre><code>([A-Za-z0-9_-]{43})</code>", answer.text)
    assert found
    assert found[1] not in host.get(HOST).text
    return found[1]


def browser(house: House, name: str) -> httpx.Client:
    house.account(name)
    return house.browser(name)


def test_a_new_contest_is_for_a_gpu_that_is_there(host: httpx.Client) -> None:
    assert "<option selected>H200</option>" in host.get("/contests").text


def test_a_page_says_when_and_what(house: House, invite: str) -> None:
    page = browser(house, "reader").get("/contests/cup").text
    assert "The &lt;i&gt;cup&lt;/i&gt;" in page
    assert "&lt;script&gt;alert" in page
    assert "JST" in page
    assert re.search(r"ends <time [^>]*data-countdown>in 1 h (29|30) min</time>", page)
    assert "/host" not in page
    assert "The &lt;i&gt;cup" in house.browser("reader").get("/contests").text


def test_one_joins_a_team_and_submits_for_the_contest(house: House, invite: str) -> None:
    ada, bob = browser(house, "ada"), browser(house, "bob")
    wrong = send(ada, "/contests/cup/join", page="/contests/cup", invite="x")
    assert wrong.status_code == 403
    assert "opens nothing here" in wrong.text
    made = send(ada, "/contests/cup/join", page="/contests/cup", invite=invite, team="duo")
    assert made.headers["cache-control"] == "no-store"
    code = re.search(r"<pre><code>([A-Za-z0-9_-]{43})</code>", made.text)
    assert code
    joined = send(bob, "/contests/cup/join", page="/contests/cup", invite=invite, code=code[1])
    assert joined.headers["location"] == "/contests/cup"
    page = bob.get("/contests/cup").text
    assert "<strong>duo</strong> (ada, bob)" in page
    link = re.search(r'href="(/tasks/softmax\?contest=cup)"', page)
    assert link
    answer = send(bob, "/tasks/softmax", page=link[1], source=SOURCE, contest="cup")
    assert answer.status_code == 303, answer.text
    assert "1 used" in ada.get("/contests/cup").text
    assert ada.get(answer.headers["location"]).status_code == 200
    assert house.browser("reader").get(answer.headers["location"]).status_code == 404
    assert "Submit from the tasks above." in page
    again = f"/tasks/softmax?origin={answer.headers['location'].rsplit('/', 1)[1]}"
    for member in (ada, bob):
        assert '<a href="/contests/cup">cup</a>' in member.get(answer.headers["location"]).text
        assert '<input type="hidden" name="contest" value="cup">' in member.get(again).text
        assert 'href="/tasks/softmax?contest=cup#editor">start over' in member.get(again).text
    refused = send(house.browser("reader"), "/tasks/softmax", source=SOURCE, contest="cup")
    assert refused.status_code == 403
    assert "does not take part" in refused.text
    assert "return x" in refused.text, "nothing typed is lost"


def test_questions_are_answered_and_things_announced(
    house: House, host: httpx.Client, invite: str
) -> None:
    eve = browser(house, "eve")
    send(eve, "/contests/cup/join", page="/contests/cup", invite=invite)
    asked = send(eve, "/contests/cup/questions", page="/contests/cup", text="<b>Why?</b>")
    assert asked.headers["location"] == "/contests/cup#questions"
    page = host.get(HOST).text
    assert "&lt;b&gt;Why?" in page
    number = re.search(r'action="/contests/cup/host/questions/(\d+)"', page)
    assert number
    send(host, f"{HOST}/questions/{number[1]}", page=HOST, text="Because.", public="on")
    send(host, f"{HOST}/announcements", page=HOST, text="Lunch.\r\nThen on.")
    page = house.browser("reader").get("/contests/cup").text
    for words in ("&lt;b&gt;Why?", "Because.", "Lunch.\nThen on."):
        assert words in page
    assert "eve" not in page.split("<main")[1]


def test_hosts_change_disqualify_and_close(house: House, host: httpx.Client, invite: str) -> None:
    mal = browser(house, "mal")
    send(mal, "/contests/cup/join", page="/contests/cup", invite=invite)
    number = re.search(r"host/entrants/(\d+)\"(?:(?!</form>).)*Why mal ", host.get(HOST).text)
    assert number
    path = f"{HOST}/entrants/{number[1]}"
    send(host, path, page=HOST, reason="copied <code>")
    assert "copied &lt;code&gt;" in mal.get("/contests/cup").text
    send(host, path, page=HOST, reason="")
    assert "disqualified" not in mal.get("/contests/cup").text
    wrong = send(host, f"{HOST}/change", page=HOST, **fields(zone="Mars/Base"))
    assert wrong.status_code == 422
    assert "“Time zone” is not known" in wrong.text
    assert 'value="Mars/Base"' in wrong.text
    early = send(host, f"{HOST}/close", page=HOST)
    assert early.status_code == 409
    past = f"{datetime.now(UTC) - timedelta(minutes=1):%Y-%m-%dT%H:%M}"
    start = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M}"
    over = fields(zone="UTC", starts_at=start, ends_at=past)
    assert send(host, f"{HOST}/change", page=HOST, **over).status_code == 303
    assert "Submit from" not in mal.get("/contests/cup").text
    left = send(host, f"{HOST}/close", page=HOST)
    assert "not judged yet" in left.text
    for submission in host.get("/api/v1/submissions").json()["items"]:
        send(host, f"/submissions/{submission['id']}/cancel", page="/contests/cup/host")
    closed = send(host, f"{HOST}/close", page=HOST)
    assert closed.headers["location"] == "/contests/cup/standings"
    assert "Final, stored" in mal.get("/contests/cup/standings").text
    assert "reinstate" in host.get(HOST).text


def test_what_makes_no_sense_is_shown_again(host: httpx.Client) -> None:
    for changed, words in (
        ({"name": "No Name"}, "“Name” is too long, or has characters"),
        ({"starts_at": "soon"}, "“Starts” is no time"),
        ({"ends_at": ""}, "“Ends” is empty"),
        ({"ends_at": "1999-01-01T00:00"}, "“Ends” cannot be so: the year must be between"),
        ({"ends_at": "2001-01-01T00:00"}, "ends before it starts"),
        ({"zone": "Mars"}, "“Time zone” is not known"),
        ({"hourly_limit": "0"}, "“Submissions of an entrant within an hour” must be at least 1"),
        ({"final_top": "many"}, "“Measured again after the end, of each task” must be a whole"),
        ({"tasks": ""}, "“Tasks” is empty"),
    ):
        wanted = fields(name="other", title="kept as typed") | changed
        answer = send(host, "/contests", **wanted)
        assert answer.status_code == 422, words
        assert words in answer.text
        assert not re.search(r"<p>[^<]*[a-z]_[a-z]", answer.text), "names of the API"
        assert 'value="kept as typed"' in answer.text


def test_fields_are_called_as_on_the_page(host: httpx.Client) -> None:
    page = host.get("/contests").text
    for name, label in LABELS.items():
        assert f'<label for="{name}">{label}</label>' in page


def test_pages_are_plain_and_hosts_pages_are_for_hosts(
    house: House, host: httpx.Client, invite: str
) -> None:
    paths = ("/contests", "/contests/cup", "/contests/cup/standings", HOST)
    for path in paths:
        page = host.get(path)
        assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", page.text) == []
        assert "unsafe" not in page.headers["content-security-policy"]
    guest = browser(house, "guest")
    assert guest.get(HOST).status_code == 403
    form = {"csrf": form_token(guest, "/you"), "text": "hacked"}
    for part in ("announcements", "change", "invite", "finals", "close", "entrants/1"):
        assert guest.post(f"{HOST}/{part}", data=form).status_code == 403
        assert host.post(f"{HOST}/{part}", data={"text": "x"}).status_code == 403, "no token"
    assert guest.post("/contests", data=form).status_code == 403
    assert guest.get("/contests/none").status_code == 404
    assert house.browser().get("/contests/cup").headers["location"].startswith("/sign-in")
