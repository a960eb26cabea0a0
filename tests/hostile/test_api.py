"""Requests made from our own OpenAPI description, right and wrong: never a 5xx, always a shape."""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.accounts import Caller
from app.roles import Role, Scope
from kernels.catalog import Catalog
from tests.app.accounts.house import House, opened
from tests.app.conftest import temporary_settings
from tests.hostile.rows import ALL

_EXAMPLES = 400 if ALL else 20
_LONGEST_WAIT_S = 0.2
_PATIENCE_S = 120.0
"""With a machine that has much else to do."""
CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
OPERATIONS = (
    "GET /api/v1/tracks",
    "GET /api/v1/records",
    "GET /api/v1/records/{task}/{device}",
    "GET /api/v1/tasks",
    "GET /api/v1/tasks/{name}",
    "POST /api/v1/submissions",
    "GET /api/v1/submissions",
    "GET /api/v1/submissions/{submission}",
    "POST /api/v1/submissions/{submission}/cancel",
    "POST /api/v1/submissions/{submission}/rejudge",
    "GET /api/v1/submissions/{submission}/source",
    "GET /api/v1/submissions/{submission}/plan",
    "GET /api/v1/submissions/{submission}/samples.csv",
    "GET /api/v1/submissions/{submission}/samples.parquet",
    "GET /api/v1/submissions/{submission}/badge.svg",
    "GET /api/v1/submissions/{submission}/events",
    "POST /api/v1/submissions/{submission}/remeasure",
    "GET /api/v1/submissions/{submission}/sittings",
    "GET /api/v1/submissions/{submission}/sittings/{number}",
    "POST /api/v1/submissions/{submission}/inspections",
    "GET /api/v1/submissions/{submission}/reruns",
    "GET /api/v1/reruns/{rerun}",
    "POST /api/v1/boards/{task}/{device}/remeasure",
    "GET /api/v1/comparisons/{first}/{second}",
    "GET /api/v1/boards/{task}/{device}",
    "GET /api/v1/boards/{task}/{device}/history",
    "GET /api/v1/standings/{device}",
    "GET /api/v1/hosts",
    "PUT /api/v1/hosts/{host}/drain",
    "DELETE /api/v1/hosts/{host}/drain",
    "GET /api/v1/held",
    "GET /api/v1/me",
    "GET /api/v1/tokens",
    "DELETE /api/v1/tokens/{token}",
    "GET /api/v1/users",
    "PATCH /api/v1/users/{name}",
    "DELETE /api/v1/users/{name}/tokens",
    "GET /api/v1/audit",
    "GET /api/v1/invites",
    "POST /api/v1/invites",
    "DELETE /api/v1/invites/{invite}",
    "GET /api/v1/webhooks",
    "POST /api/v1/webhooks",
    "DELETE /api/v1/webhooks/{webhook}",
    "GET /api/v1/webhooks/{webhook}/deliveries",
    "GET /api/v1/contests",
    "POST /api/v1/contests",
    "GET /api/v1/contests/{contest}",
    "PATCH /api/v1/contests/{contest}",
    "POST /api/v1/contests/{contest}/invite",
    "GET /api/v1/contests/{contest}/entrants",
    "POST /api/v1/contests/{contest}/entrants",
    "POST /api/v1/contests/{contest}/leave",
    "PUT /api/v1/contests/{contest}/entrants/{number}/disqualification",
    "POST /api/v1/contests/{contest}/announcements",
    "POST /api/v1/contests/{contest}/questions",
    "PUT /api/v1/contests/{contest}/questions/{number}/answer",
    "GET /api/v1/contests/{contest}/standings",
    "GET /api/v1/contests/{contest}/standings.csv",
    "GET /api/v1/contests/{contest}/sources.zip",
    "GET /api/v1/contests/{contest}/finals",
    "POST /api/v1/contests/{contest}/finals",
    "POST /api/v1/contests/{contest}/close",
    "GET /api/v1/contests/{contest}/audit",
    "GET /api/v1/submissions/{submission}/kernels/{number}/{kind}.txt",
    "GET /api/v1/me/activity",
    "GET /api/v1/health",
)
REFUSING = (
    "POST /api/v1/submissions",
    "GET /api/v1/submissions",
    "GET /api/v1/submissions/{submission}",
    "GET /api/v1/submissions/{submission}/events",
    "GET /api/v1/boards/{task}/{device}",
    "GET /api/v1/users",
    "PATCH /api/v1/users/{name}",
    "POST /api/v1/invites",
    "DELETE /api/v1/invites/{invite}",
    "DELETE /api/v1/tokens/{token}",
    "POST /api/v1/contests",
    "PATCH /api/v1/contests/{contest}",
)
"""Operations with parameters that can be wrong by their description."""


RAW: dict[str, tuple[bytes, bytes]] = {
    "open bracket": (b"GET /tasks", b"Host: [::1"),
    "empty brackets": (b"GET /tasks", b"Host: []"),
    "bracket in a password": (b"GET /tasks", b"Host: a@[b"),
    "no host": (b"GET /tasks", b"X: y"),
    "two hosts": (b"GET /tasks", b"Host: evil\r\nHost: 127.0.0.1"),
    "foreign origin": (b"POST /api/v1/submissions", b"Host: 127.0.0.1\r\nOrigin: http://["),
    "no origin at all": (b"POST /api/v1/submissions", b"Host: 127.0.0.1\r\nOrigin: ://"),
    "no number": (b"POST /api/v1/submissions", b"Host: 127.0.0.1\r\nContent-Length: \xb2"),
    "two lengths": (
        b"POST /api/v1/submissions",
        b"Host: 127.0.0.1\r\nContent-Length: 0\r\nContent-Length: 1",
    ),
    "type of no letters": (
        b"POST /api/v1/submissions",
        b"Host: 127.0.0.1\r\nContent-Length: 0\r\nContent-Type: \xff/\xff; charset=\xff",
    ),
    "large header": (b"GET /tasks", b"Host: 127.0.0.1\r\nX: " + b"a" * 200_000),
    "out of the files": (b"GET /static/..%2f..%2fpyproject.toml", b"Host: 127.0.0.1"),
    "out of the documents": (b"GET /docs/..%2f..%2fREADME.md", b"Host: 127.0.0.1"),
    "half a character": (b"GET /submissions/%ED%A0%80", b"Host: 127.0.0.1"),
    "NUL": (b"GET /tasks/%00", b"Host: 127.0.0.1"),
    "huge range": (
        b"GET /static/style.css",
        b"Host: 127.0.0.1\r\nRange: bytes=9" + b"9" * 30 + b"-",
    ),
    "no date": (b"GET /static/style.css", b"Host: 127.0.0.1\r\nIf-Modified-Since: 99 Xxx 9"),
    "no method": (b"FOO /tasks", b"Host: 127.0.0.1"),
}
"""Request line and headers that no client writes."""


@pytest.fixture(scope="module", params=["off", "open"])
def house(request: pytest.FixtureRequest) -> Iterator[House]:
    """A service of its own, without and with accounts."""
    with temporary_settings() as mine, opened(mine, Catalog(), request.param) as house:
        yield house


@pytest.fixture(scope="module")
def address(house: House) -> str:
    """Where it is."""
    return house.address


@pytest.fixture(scope="module")
def headers(house: House) -> dict[str, str]:
    """Those of an admin, where there are accounts."""
    if not house.settings.has_accounts:
        return {}
    house.token(house.account("somebody"))  # the numbers that are tried first are not the admin's
    house.token(Caller("somebody", frozenset((Scope.READ,))))
    return {"Authorization": f"Bearer {house.token(house.account('chief', Role.ADMIN))}"}


@pytest.fixture(scope="module")
def operations(address: str) -> dict[str, Any]:
    """What the service says that it can be asked, by method and path."""
    url = f"{address}/api/v1/openapi.json"
    schema = schemathesis.openapi.from_url(url, timeout=_PATIENCE_S)
    results: list[Any] = list(schema.get_all_operations())
    return {operation.label: operation for operation in (result.ok() for result in results)}


def test_no_operation_is_left_out(operations: dict[str, Any]) -> None:
    assert sorted(operations) == sorted(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_right_request_breaks_the_service(
    operations: dict[str, Any], headers: dict[str, str], name: str
) -> None:
    ask_often(operations[name], headers, schemathesis.GenerationMode.POSITIVE)


@pytest.mark.parametrize("name", REFUSING)
def test_no_wrong_request_breaks_the_service(
    operations: dict[str, Any], headers: dict[str, str], name: str
) -> None:
    ask_often(operations[name], headers, schemathesis.GenerationMode.NEGATIVE)


def ask_often(operation: Any, headers: dict[str, str], mode: schemathesis.GenerationMode) -> None:
    """Make requests that keep, or break, what is said of an operation."""
    if "/contests" in operation.path and not headers:
        pytest.skip("there are no contests without accounts")

    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def each(case: Any) -> None:
        ask(case, headers)

    each()


def ask(case: Any, headers: dict[str, str]) -> None:
    """Make a request and look at its answer."""
    wait = (case.query or {}).get("wait")
    if isinstance(wait, int | float) and wait > _LONGEST_WAIT_S:
        case.query["wait"] = _LONGEST_WAIT_S
    case.call_and_validate(checks=CHECKS, headers=headers, timeout=_PATIENCE_S)


@pytest.mark.parametrize("name", RAW)
def test_no_raw_request_breaks_the_service(address: str, name: str) -> None:
    line, headers = RAW[name]
    with socket.create_connection(("127.0.0.1", urlsplit(address).port or 80), 30) as connection:
        connection.sendall(line + b" HTTP/1.1\r\n" + headers + b"\r\nConnection: close\r\n\r\n")
        status = connection.recv(4096)
    assert status.startswith(b"HTTP/1.1 ")
    assert 200 <= int(status[9:12]) < 500, status
