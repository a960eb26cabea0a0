"""Bad requests get a clear answer that says what to do, and never a 5xx."""

import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from app.guard import BODY_BYTES
from kernels.contract import limits
from tests.app.api.talking import post
from tests.app.judging import SOURCE

JSON = {"content-type": "application/json"}
FIELDS = '"task": "softmax", "source": "x"'


@pytest.fixture(scope="module")
def client(shared_client: httpx.Client) -> httpx.Client:
    """One service for all: what is refused leaves nothing behind."""
    return shared_client


def refused(answer: httpx.Response, *statuses: int) -> dict[str, Any]:
    """The problem, which must have one of those statuses."""
    assert answer.status_code in statuses, answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["detail"]
    assert problem["next_step"]
    return problem


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b"[]", 422),
        (b"null", 422),
        (b"\xff\xfe", 422),
        (b'{"task": NaN}', 422),
        (b'{"task": 1e999}', 422),
        (b'{"task": ' + b"9" * 5000 + b"}", 400),
        (b"{%s, %s}" % (FIELDS.encode(), FIELDS.encode()), 422),
        (b'{%s, "extra": 1}' % FIELDS.encode(), 422),
        (b'{%s, "\\ud800": 1}' % FIELDS.encode(), 422),
        (b'{"task": "softmax"}', 422),
        (b'{"task": "\\ud800", "source": "x"}', 422),
        (b'{"task": "softmax", "source": "\\ud800"}', 422),
        (b'{"task": "softmax", "source": "a\\u0000b"}', 422),
        (b'{"task": "softmax", "source": " \\n"}', 422),
        (b'{"task": "softmax", "source": 7}', 422),
        (b'{"task": "../etc", "source": "x"}', 422),
        (b'{"task": "nothing", "source": "x"}', 404),
        (b'{%s, "device": "A100"}' % FIELDS.encode(), 422),
        (b'{%s, "entry": "not a name"}' % FIELDS.encode(), 422),
    ],
)
def test_json_that_is_no_submission(client: httpx.Client, body: bytes, status: int) -> None:
    refused(client.post("/api/v1/submissions", content=body, headers=JSON), status)


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("", b"x", 415),
        ("image/png", b"x", 415),
        ("text/x-python", b"\xff\xfe\x00", 422),
        ("text/x-python", b"", 422),
        ("multipart/form-data", b"x", 400),
        ("multipart/form-data; boundary=b", b"--b\r\nbroken", 422),
        ("application/x-www-form-urlencoded", b"task=softmax&task=matmul&source=x", 422),
        ("application/x-www-form-urlencoded", b"&" * 1000 + b"a=1&" * 100, 400),
        ("application/x-www-form-urlencoded", b"task=softmax&source=%00", 422),
    ],
)
def test_other_bodies(client: httpx.Client, kind: str, body: bytes, status: int) -> None:
    headers = {"content-type": kind} if kind else {}
    address = "/api/v1/submissions"
    params = {"task": "softmax"} if kind.startswith("text") else {}
    refused(client.post(address, content=body, headers=headers, params=params), status)


def test_the_limit_of_a_source_is_exact(client: httpx.Client) -> None:
    filled = SOURCE + "#" * (limits.SOURCE_BYTES - len(SOURCE))
    assert post(client, source=filled).status_code == 202
    assert "256 KiB" in refused(post(client, source=filled + "#"), 413)["detail"]
    refused(post(client, source="é" * (limits.SOURCE_BYTES // 2 + 1)), 413)


def test_a_body_said_to_be_too_large_is_not_waited_for(client: httpx.Client) -> None:
    with raw_request(client, b"Content-Length: 1000000000000") as connection:
        assert connection.recv(12) == b"HTTP/1.1 413"


def test_an_endless_body_is_cut_off(client: httpx.Client) -> None:
    """The answer comes while the client is still sending."""
    with raw_request(client, b"Transfer-Encoding: chunked") as connection:
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        for _ in range(BODY_BYTES // 0x10000 + 2):
            connection.sendall(chunk)
        assert connection.recv(12) == b"HTTP/1.1 413"


def raw_request(client: httpx.Client, header: bytes) -> socket.socket:
    """A connection on which the head of a submission has been sent."""
    address = urlsplit(str(client.base_url))
    assert address.hostname
    connection = socket.create_connection((address.hostname, address.port or 80), timeout=30)
    connection.sendall(
        b"POST /api/v1/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\n" + header + b"\r\n\r\n"
    )
    return connection


def test_a_compressed_body_is_refused(client: httpx.Client) -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    refused(client.post("/api/v1/submissions", content=b"\x1f\x8b", headers=headers), 415)


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/nothing",
        "/api/v1/tasks/nothing",
        "/api/v1/tasks/%00",
        "/api/v1/tasks/..%2f..%2fetc",
        "/api/v1/submissions/" + "x" * 300,
        "/api/v1/submissions/%00",
        "/api/v1/submissions/%ff",
        "/api/v1/submissions/%ED%A0%80",
        "/api/v1/submissions/99999999999999999999999",
        "/api/v1/submissions/x/source",
        "/api/v1/submissions/x/plan",
        "/api/v1/submissions/x/events",
        "/api/v1/boards/nothing/H200",
    ],
)
def test_what_is_not_there(client: httpx.Client, address: str) -> None:
    refused(client.get(address), 404)


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/submissions?limit=0",
        "/api/v1/submissions?limit=-1",
        "/api/v1/submissions?limit=99999999999999999999999",
        "/api/v1/submissions?cursor=-1",
        "/api/v1/submissions?cursor=9223372036854775808",
        "/api/v1/submissions?cursor=x",
        "/api/v1/submissions?verdict=great",
        "/api/v1/submissions?user=%00",
        "/api/v1/submissions?task=a'b",
        "/api/v1/submissions/x?wait=1e9",
        "/api/v1/submissions/x?wait=nan",
        "/api/v1/boards/softmax/A100",
        "/api/v1/boards/softmax/H200?limit=1001",
    ],
)
def test_parameters_out_of_range(client: httpx.Client, address: str) -> None:
    refused(client.get(address), 422)


def test_a_key_that_is_no_key(client: httpx.Client) -> None:
    refused(post(client, {"Idempotency-Key": "k" * 201}), 422)
    refused(post(client, {"Idempotency-Key": "a b"}), 422)


def test_wrong_methods(client: httpx.Client) -> None:
    refused(client.delete("/api/v1/submissions"), 405)
    refused(client.post("/api/v1/tasks"), 405)


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
    ],
)
def test_a_page_of_another_site_cannot_submit(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    before = client.get("/api/v1/submissions").json()
    refused(post(client, headers), 403)
    assert client.get("/api/v1/submissions").json() == before


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "", "127.0.0.1.evil"])
def test_a_foreign_name_that_resolves_here_is_refused(client: httpx.Client, host: str) -> None:
    refused(client.get("/api/v1/tasks", headers={"host": host}), 421)


def test_own_pages_and_other_names_of_the_loopback_may(client: httpx.Client) -> None:
    headers = {"sec-fetch-site": "same-origin", "origin": str(client.base_url).rstrip("/")}
    assert post(client, headers).status_code == 202
    assert client.get("/api/v1/tasks", headers={"host": "localhost:80"}).status_code == 200
    assert client.get("/api/v1/tasks", headers={"host": "[::1]:80"}).status_code == 200
