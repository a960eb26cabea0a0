"""A whole installation, started once for all tests of this folder."""

import socket
from collections.abc import Iterator

import pytest

from scripts.stack import Stack


def free_port() -> int:
    """A port of the loopback address that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Service and workers with a secret in their environment that must not leak."""
    settings = {"KERNELJUDGE_TEST_SECRET": "canary-4711", "KERNELJUDGE_GPU": "off"}
    with Stack(tmp_path_factory.mktemp("stack"), free_port(), settings) as stack:
        stack.wait_until_ready()
        yield stack
