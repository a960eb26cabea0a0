"""Tasks, boards, health and the description of the API, over real HTTP."""

import httpx
import pytest

from app.schemas import Board, Health, HouseRecord, TaskDetail
from kernels.catalog import Catalog


@pytest.fixture(scope="module")
def client(shared_client: httpx.Client) -> httpx.Client:
    return shared_client


def test_tasks(client: httpx.Client) -> None:
    names = [task["name"] for task in client.get("/api/v1/tasks").json()]
    assert names == list(Catalog())
    detail = TaskDetail.model_validate_json(client.get("/api/v1/tasks/softmax").content)
    assert detail.cases
    assert "def " in detail.starter


def test_an_empty_board(client: httpx.Client) -> None:
    board = Board.model_validate_json(client.get("/api/v1/boards/softmax/H200").content)
    assert board.entries == ()


def test_house_entries_and_their_reports(client: httpx.Client) -> None:
    entries = client.get("/api/v1/records").json()
    entry = next(entry for entry in entries if entry["task"] == "constant_add")
    record = HouseRecord.model_validate_json(
        client.get("/api/v1/records/constant_add/H200").content
    )
    assert record.model_dump(mode="json", exclude={"report"}) == entry
    assert record.report.score == record.score
    assert client.get("/api/v1/records/constant_add/H100").status_code == 404


def test_tracks(client: httpx.Client) -> None:
    (track,) = client.get("/api/v1/tracks").json()
    assert track["parts"][0]["steps"][0]["task"] in list(Catalog())


def test_health_answers_while_there_is_no_worker(client: httpx.Client) -> None:
    answer = client.get("/api/v1/health")
    assert answer.status_code == 200
    assert Health.model_validate_json(answer.content).status == "degraded"


def test_the_description_has_a_model_for_every_answer(client: httpx.Client) -> None:
    api = client.get("/api/v1/openapi.json").json()
    for path, methods in api["paths"].items():
        for operation in methods.values():
            assert operation["description"], path
            for status, answer in operation["responses"].items():
                if status in ("204", "304"):
                    continue
                kinds = answer["content"]
                if status >= "400" and not path.endswith("/health"):
                    assert "application/problem+json" in kinds, (path, status)
                assert all("schema" in kind for kind in kinds.values()), (path, status)
    body = api["paths"]["/api/v1/submissions"]["post"]["requestBody"]["content"]
    assert "source" in body["application/json"]["schema"]["properties"]


def test_every_reference_in_the_description_resolves(client: httpx.Client) -> None:
    text = client.get("/api/v1/openapi.json").text
    known = set(client.get("/api/v1/openapi.json").json()["components"]["schemas"])
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= known
