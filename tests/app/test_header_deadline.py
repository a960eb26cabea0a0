"""Clients that never finish their headers are let go; slow answers are not cut."""

import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from app import header_deadline
from app.settings import Settings
from kernels.catalog import Catalog
from tests.app.api.talking import post
from tests.app.serving import serving

_BEGINNING = b"GET /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def address(settings: Settings, catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(header_deadline, "HEADER_SECONDS", 0.4)
    with serving(settings, catalog) as address:
        yield address


def connect(address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(address).port or 80), 30)


def hung_up(connection: socket.socket) -> bool:
    """Whether the other side closes a connection on which one header follows the other."""
    try:
        for _ in range(600):
            connection.sendall(b"X: y\r\n")
            time.sleep(0.05)
    except OSError:
        return True
    return False


def test_a_request_that_never_begins(address: str) -> None:
    with connect(address) as connection:
        assert connection.recv(100) == b""


def test_headers_without_end(address: str) -> None:
    with connect(address) as connection:
        connection.sendall(_BEGINNING)
        assert hung_up(connection)


def test_headers_without_end_after_an_answer(address: str) -> None:
    with connect(address) as connection:
        connection.sendall(_BEGINNING + b"\r\n")
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        connection.sendall(_BEGINNING)
        assert hung_up(connection)


def test_a_slow_answer_is_not_cut(address: str) -> None:
    with httpx.Client(base_url=address) as client:
        name = post(client).json()["id"]
        for _ in range(2):  # on one connection
            answer = client.get(f"/api/v1/submissions/{name}", params={"wait": 1})
            assert answer.json()["stage"] == "queued"
