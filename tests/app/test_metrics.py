"""What Prometheus and load balancers read."""

import httpx
from prometheus_client.parser import text_string_to_metric_families

from app.main import Parts
from app.metrics import Metrics
from tests.app import judging


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Values by name and label values."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_state_of_an_installation(parts: Parts) -> None:
    judging.beat(parts.connection)
    judging.judge(parts, "a", 10.0)
    judging.submit(parts)
    registry = Metrics(parts.store, parts.service.checkup).registry
    value = registry.get_sample_value
    assert value("kerneljudge_up", {"component": "database"}) == 1
    assert value("kerneljudge_submissions_unfinished", {"stage": "queued"}) == 1
    assert value("kerneljudge_submissions_unfinished", {"stage": "measuring"}) == 0
    assert value("kerneljudge_submissions_finished", {"verdict": "accepted"}) == 1
    assert (value("kerneljudge_oldest_unfinished_seconds") or 0) > 0
    assert value("kerneljudge_judging_seconds", {"quantile": "0.5"}) is not None
    labels = {"role": "build", "device": "", "state": "idle"}
    assert value("kerneljudge_workers", labels) == 1


def test_what_does_not_answer_is_down(parts: Parts) -> None:
    assert parts.embedded is not None
    parts.embedded.stop()
    registry = Metrics(parts.store, parts.service.checkup).registry
    assert registry.get_sample_value("kerneljudge_up", {"component": "redis"}) == 0
    assert registry.get_sample_value("kerneljudge_queue_jobs", {"queue": "build"}) is None


def test_requests_are_counted_by_route(client: httpx.Client) -> None:
    for name in ("a", "b"):
        client.get(f"/api/v1/submissions/{name}")
    read = client.get("/metrics")
    assert read.headers["content-type"].startswith("text/plain")
    route = "/api/v1/submissions/{submission}"
    key = ("kerneljudge_http_request_seconds_count", "GET", route, "4xx")
    assert samples(read.text)[key] == 2


def test_ready(client: httpx.Client) -> None:
    assert client.get("/ready").text == "ready\n"


def test_an_answer_has_the_id_of_its_request(client: httpx.Client) -> None:
    given = client.get("/ready", headers={"X-Request-Id": "proxy-17"})
    assert given.headers["x-request-id"] == "proxy-17"
    strange = client.get("/ready", headers={"X-Request-Id": "a b\tc"}).headers["x-request-id"]
    assert strange not in ("a b\tc", "proxy-17")
    assert client.get("/nothing", headers={"Host": "evil.example"}).headers["x-request-id"]
