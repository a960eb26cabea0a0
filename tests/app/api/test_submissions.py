"""Submitting and reading back, over real HTTP."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from app.settings import Settings
from kernels.contract import Submission, Verdict
from tests.app.api.talking import post, speak
from tests.app.judging import SOURCE, report


def test_json_is_accepted_and_stored(client: httpx.Client) -> None:
    answer = post(client)
    assert answer.status_code == 202
    body = answer.json()
    assert (body["stage"], body["position"], body["entry"]) == ("queued", 1, "solve")
    assert client.get(answer.headers["location"]).json() == body
    source = client.get(f"/api/v1/submissions/{body['id']}/source")
    assert source.text == SOURCE
    assert source.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"task": "softmax", "source": SOURCE, "device": "", "entry": ""}},
        {"data": {"task": "softmax", "source": SOURCE.replace("\n", "\r\n")}},
        {"data": {"task": "softmax"}, "files": {"source": ("k.py", SOURCE.encode())}},
        {
            "params": {"task": "softmax"},
            "content": SOURCE.encode(),
            "headers": {"content-type": "text/x-python; charset=utf-8"},
        },
    ],
)
def test_forms_files_and_bare_source_are_accepted(
    client: httpx.Client, body: dict[str, Any]
) -> None:
    answer = client.post("/api/v1/submissions", **body)
    assert answer.status_code == 202, answer.text
    name = answer.json()["id"]
    assert client.get(f"/api/v1/submissions/{name}/source").text == SOURCE


def test_source_sent_as_curl_sends_it_learns_its_type(client: httpx.Client) -> None:
    answer = client.post(
        "/api/v1/submissions",
        params={"task": "softmax"},
        content=b"import torch\n",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 422
    assert "text/x-python" in answer.json()["next_step"]


def test_device_and_entry_may_be_chosen(client: httpx.Client) -> None:
    body = post(client, device="H100", entry="other").json()
    assert (body["device"], body["entry"]) == ("H100", "other")


def test_a_label_is_kept_and_finds_the_submission(client: httpx.Client) -> None:
    name = post(client, label="feature/µ-kernels").json()["id"]
    post(client, label="main")
    found = client.get("/api/v1/submissions", params={"label": "feature/µ-kernels"}).json()["items"]
    assert [(item["id"], item["label"]) for item in found] == [(name, "feature/µ-kernels")]
    assert client.get(f"/api/v1/submissions/{name}").json()["label"] == "feature/µ-kernels"


@pytest.mark.parametrize("label", ["", "two\nlines", "a\x1b[31m", "x" * 101])
def test_a_label_is_one_short_line(client: httpx.Client, label: str) -> None:
    assert post(client, label=label).status_code == 422


def test_a_repeated_key_answers_with_the_first_submission(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "k1"}
    first, second = post(client, headers), post(client, headers)
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["id"] == second.json()["id"]
    other = post(client, headers, source=SOURCE + "\n")
    assert other.status_code == 409
    assert post(client).json()["id"] != first.json()["id"]


def test_one_key_many_times_at_once_makes_one_submission(client: httpx.Client) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: post(client, {"Idempotency-Key": "k"}), range(50)))
    assert {answer.json()["id"] for answer in answers} == {answers[0].json()["id"]}
    assert sorted(answer.status_code for answer in answers) == [200] * 49 + [202]
    assert len(client.get("/api/v1/submissions").json()["items"]) == 1


def test_waiting_ends_with_the_report(client: httpx.Client, settings: Settings) -> None:
    name = post(client).json()["id"]
    finish = threading.Timer(0.2, speak, [settings, name, lambda w, s: w.report(report(s))])
    finish.start()
    body = client.get(f"/api/v1/submissions/{name}", params={"wait": 30}).json()
    finish.join()
    assert body["verdict"] == "checked"
    assert body["report"]["cases"][0]["case"] == "c"


def test_waiting_ends_without_a_verdict_too(client: httpx.Client) -> None:
    answer = client.post(
        "/api/v1/submissions", params={"wait": 0.1}, json={"task": "softmax", "source": SOURCE}
    )
    assert answer.json()["verdict"] is None


def test_events_tell_every_stage_and_resume(client: httpx.Client, settings: Settings) -> None:
    name = post(client).json()["id"]

    def work(worker: Any, given: Submission) -> None:
        worker.stage("building", "compiling")
        worker.report(report(given, Verdict.WRONG_ANSWER))

    threading.Timer(0.2, speak, [settings, name, work]).start()
    events = read_events(client, name)
    assert [kind for kind, _ in events] == ["stage", "stage", "stage", "finished"]
    assert [number for _, number in events] == ["1", "2", "3", ""]
    assert read_events(client, name, {"Last-Event-ID": "2"}) == events[2:]
    unknown = client.get("/api/v1/submissions/unknown/events")
    assert unknown.status_code == 404


def test_the_plan_is_there_once_it_was_built(client: httpx.Client, settings: Settings) -> None:
    name = post(client).json()["id"]
    assert client.get(f"/api/v1/submissions/{name}/plan").status_code == 404

    def work(worker: Any, given: Submission) -> None:
        worker.built(b"plan", hashlib.sha256(b"plan").hexdigest())
        worker.report(report(given))

    speak(settings, name, work)
    client.get(f"/api/v1/submissions/{name}", params={"wait": 30})
    assert client.get(f"/api/v1/submissions/{name}/plan").content == b"plan"


def test_the_list_can_be_walked_and_filtered(client: httpx.Client) -> None:
    names = [post(client, device=["H100", "H200"][i % 2]).json()["id"] for i in range(5)]
    seen, cursor = [], None
    while True:
        params = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = client.get("/api/v1/submissions", params=params).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == names[::-1]
    page = client.get("/api/v1/submissions", params={"device": "H100", "stage": "queued"}).json()
    assert [item["id"] for item in page["items"]] == names[::-2]
    page = client.get("/api/v1/submissions", params={"verdict": "accepted"}).json()
    assert page["items"] == []


def read_events(
    client: httpx.Client, name: str, headers: dict[str, str] | None = None
) -> list[tuple[str, str]]:
    """Kind and id of every event until the stream ends."""
    kinds, ids = [], []
    address = f"/api/v1/submissions/{name}/events"
    with client.stream("GET", address, headers=headers, timeout=30) as stream:
        text = "\n".join(stream.iter_lines())
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "event" in fields:
            kinds.append(fields["event"])
            ids.append(fields.get("id", ""))
    return list(zip(kinds, ids, strict=True))
