"""Cancelling: at every state, twice, and after the end."""

import httpx
import pytest

from app.main import Parts
from app.queue import JobState
from kernels.contract import Stage, Verdict, job_id, lease_key
from tests.app.api.talking import post
from tests.app.judging import consume, payload, publisher, report, submit
from tests.app.test_reaper import GRACE, state_of, sweep, take
from workers.events import lease


def advance(parts: Parts, name: str, state: str) -> None:
    """Bring a submission to a state."""
    if state == "queued":
        return
    take(parts, name)
    if state in ("building", "built", "measuring"):
        publisher(parts, name).stage("building", "compiling")
    if state == "built":
        parts.connection.rpush("rq:queue:measure:H200", job_id("measure", name, 1))
    if state == "measuring":
        publisher(parts, name).stage("measuring", "replaying")
    consume(parts)


@pytest.mark.parametrize("state", ["queued", "taken", "building", "built", "measuring"])
def test_it_ends_at_every_state(parts: Parts, state: str) -> None:
    name = submit(parts).id
    advance(parts, name, state)
    detail = parts.service.cancel(name)
    assert (detail.stage, detail.verdict) == (Stage.FINISHED, Verdict.CANCELLED)
    assert detail.report is not None
    publisher(parts, name).stage("measuring", "late")
    publisher(parts, name).report(report(payload(parts, name)))
    consume(parts)
    sweep(parts, GRACE, GRACE)
    assert parts.service.submission_detail(name) == detail
    assert parts.service.cancel(name) == detail
    assert state_of(parts, name) is JobState.MISSING or state == "built"


def test_no_worker_takes_it_any_more(parts: Parts) -> None:
    """Also where its job was queued again behind the service's back."""
    name = submit(parts).id
    parts.service.cancel(name)
    with lease(parts.connection, payload(parts, name)) as held:
        assert not held
    assert parts.connection.exists(lease_key(name, 1))


def test_what_is_finished_stays_so(parts: Parts) -> None:
    name = submit(parts).id
    publisher(parts, name).report(report(payload(parts, name)))
    consume(parts)
    detail = parts.service.submission_detail(name)
    assert parts.service.cancel(name) == detail
    assert detail.verdict is Verdict.CHECKED


def test_it_ends_without_redis(parts: Parts) -> None:
    name = submit(parts).id
    parts.connection.shutdown(nosave=True)
    assert parts.service.cancel(name).verdict is Verdict.CANCELLED


def test_over_http(client: httpx.Client) -> None:
    name = post(client).json()["id"]
    first = client.post(f"/api/v1/submissions/{name}/cancel")
    assert (first.status_code, first.json()["verdict"]) == (200, "cancelled")
    assert client.post(f"/api/v1/submissions/{name}/cancel").json() == first.json()
    assert client.post("/api/v1/submissions/none/cancel").status_code == 404
    foreign = {"Origin": "http://elsewhere.example"}
    answer = client.post(f"/api/v1/submissions/{name}/cancel", headers=foreign)
    assert answer.status_code == 403
