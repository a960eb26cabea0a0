"""Reruns over real HTTP, from the request to the result."""

import hashlib
from collections.abc import Callable, Iterator

import httpx
import pytest
import redis
from rq.job import Job
from rq.serializers import JSONSerializer

from app.redis_server import connect
from app.reruns.schemas import RerunDetail, Sittings
from app.schemas import Board
from app.settings import Settings
from kernels.catalog import Catalog
from kernels.contract import Report, Submission, Verdict, job_id
from kernels.contract.rerun import Rerun, RerunKind
from tests.app.api.talking import post, speak
from tests.app.conftest import temporary_settings
from tests.app.judging import WORKER, beat, report
from tests.app.rerunning import BUNDLE, INSPECTION, sitting
from tests.app.serving import serving
from workers.events import Publisher
from workers.reruns import RerunPublisher


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with temporary_settings() as settings:
        yield settings


@pytest.fixture(scope="module")
def client(settings: Settings, catalog: Catalog) -> Iterator[httpx.Client]:
    """The whole service with its loops, for all tests of this module."""
    with (
        serving(settings, catalog) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def queue(client: httpx.Client, settings: Settings) -> Iterator[redis.Redis]:
    """Its Redis, with a measurer that lacks one tool."""
    connection = connect(settings.redis_address)
    offered = {
        RerunKind.MEMCHECK: "",
        RerunKind.RACECHECK: "",
        RerunKind.PROFILE: "ncu is not installed: install it",
    }
    beat(connection, name="m", role="measure", device="H200", inspections=offered)
    client.get("/api/v1/tasks/softmax")
    yield connection
    connection.close()


@pytest.fixture
def accepted(client: httpx.Client, settings: Settings, queue: redis.Redis) -> str:
    """A submission that was measured here."""

    def judge(publisher: Publisher, given: Submission) -> None:
        publisher.built(BUNDLE, hashlib.sha256(BUNDLE).hexdigest())
        found = report(given, Verdict.ACCEPTED, microseconds=10, spread=0.002)
        publisher.report(found.model_copy(update={"rebuilt": "identical"}))

    name = str(post(client, device="H200").json()["id"])
    speak(settings, name, judge)
    assert client.get(f"/api/v1/submissions/{name}?wait=20").json()["verdict"] == "accepted"
    return name


def act(queue: redis.Redis, rerun: str, work: Callable[[RerunPublisher, Rerun], None]) -> None:
    """Do as a measurer does with the job of a rerun's first attempt."""
    job = Job.fetch(job_id("rerun", rerun, 1), queue, serializer=JSONSerializer)
    queue.lrem("rq:queue:measure:H200", 1, job.id)
    given = Rerun.model_validate(job.args[0])
    work(RerunPublisher(queue, given, WORKER), given)


def sit(microseconds: float) -> Callable[[RerunPublisher, Rerun], None]:
    def work(publisher: RerunPublisher, given: Rerun) -> None:
        for turn in given.turns:
            publisher.sitting(turn, sitting(given, turn, microseconds))
        publisher.end()

    return work


def test_measuring_again_from_the_request_to_the_board(
    client: httpx.Client, queue: redis.Redis, accepted: str
) -> None:
    answer = client.post(f"/api/v1/submissions/{accepted}/remeasure")
    assert answer.status_code == 202
    rerun = RerunDetail.model_validate_json(answer.content)
    assert client.post(f"/api/v1/submissions/{accepted}/remeasure").status_code == 200
    act(queue, rerun.id, sit(10.02))
    ended = client.get(f"{answer.headers['location']}?wait=20").json()
    assert (ended["state"], ended["submissions"]) == ("done", [accepted])
    found = client.get(f"/api/v1/submissions/{accepted}/sittings").content
    assert [s.score for s in Sittings.model_validate_json(found).sittings] == [10, 10.02]
    body = client.get(f"/api/v1/submissions/{accepted}/sittings/1").content
    assert Report.model_validate_json(body).score == 10.02
    board = Board.model_validate_json(client.get("/api/v1/boards/softmax/H200").content)
    assert board.entries[0].sittings == 2


def test_looking_deeper_from_the_request_to_the_finding(
    client: httpx.Client, queue: redis.Redis, accepted: str
) -> None:
    path = f"/api/v1/submissions/{accepted}/inspections"
    answer = client.post(path, json={"kind": "memcheck"})
    assert answer.status_code == 202
    act(queue, answer.json()["id"], lambda said, _: said.end(INSPECTION))
    client.get(f"/api/v1/reruns/{answer.json()['id']}?wait=20")
    [rerun] = client.get(f"/api/v1/submissions/{accepted}/reruns").json()
    assert rerun["inspection"]["tool"] == INSPECTION.tool


def test_the_top_of_a_board_is_measured_together(
    client: httpx.Client, queue: redis.Redis, accepted: str
) -> None:
    answer = client.post("/api/v1/boards/softmax/H200/remeasure?top=3&rounds=2")
    assert answer.status_code == 202
    assert answer.json()["rounds"] == 2
    act(queue, answer.json()["id"], sit(10.0))
    assert client.get(f"{answer.headers['location']}?wait=20").json()["state"] == "done"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/submissions/nope/remeasure", 404),
        ("POST", "/submissions/{queued}/remeasure", 409),
        ("POST", "/boards/nope/H200/remeasure", 404),
        ("POST", "/boards/matmul/H200/remeasure", 404),
        ("POST", "/boards/softmax/H200/remeasure?top=17", 422),
        ("POST", "/boards/softmax/H200/remeasure?rounds=0", 422),
        ("GET", "/reruns/nope", 404),
        ("GET", "/reruns/..%2f..%2fetc", 404),
        ("GET", "/submissions/nope/reruns", 404),
        ("GET", "/submissions/{queued}/sittings/0", 404),
        ("GET", "/submissions/{queued}/sittings/-1", 422),
    ],
)
def test_what_cannot_be_done_is_said(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    queued = post(client).json()["id"]
    answer = client.request(method, "/api/v1" + path.format(queued=queued))
    client.post(f"/api/v1/submissions/{queued}/cancel")  # so that others have their turn
    assert answer.status_code == status, answer.text
    assert answer.json().get("next_step") or status == 404


def test_a_missing_tool_is_said_with_its_remedy(client: httpx.Client, accepted: str) -> None:
    path = f"/api/v1/submissions/{accepted}/inspections"
    answer = client.post(path, json={"kind": "profile"})
    assert answer.status_code == 503
    assert answer.json()["detail"] == "ncu is not installed"
    assert answer.json()["next_step"] == "Install it."
    assert client.post(path, json={"kind": "measure"}).status_code == 422


def test_a_page_of_another_site_cannot_ask(client: httpx.Client, accepted: str) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    answer = client.post(f"/api/v1/submissions/{accepted}/remeasure", headers=headers)
    assert answer.status_code == 403
