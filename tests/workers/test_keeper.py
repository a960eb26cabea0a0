"""A fork server is started again when it or its socket is gone."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from workers.jail import Profile, ServerProcess, interpreter_paths, probe, start_server
from workers.keeper import ServerKeeper

_PATIENCE_S = 30


class Started(list[ServerProcess]):
    """The servers that a keeper has started, and how it starts one."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        profile = Profile(name="idle", readable=interpreter_paths(), env={"PATH": "/usr/bin"})
        self._start = partial(start_server, folder, "idle", profile, (), "json:loads")

    def another(self) -> ServerProcess:
        server = self._start()
        self.append(server)
        return server


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    if probe().missing:
        pytest.skip("no jail here")
    started = Started(tmp_path)
    keeper = ServerKeeper(started.another, "idle")
    keeper.start()
    keeper.wait_ready()
    yield started
    keeper.stop()


def remove_socket(server: ServerProcess) -> None:
    server.socket.unlink()


def kill(server: ServerProcess) -> None:
    os.kill(server.pid, signal.SIGKILL)


@pytest.mark.parametrize("harm", [remove_socket, kill])
def test_what_is_gone_comes_back(started: Started, harm: Callable[[ServerProcess], None]) -> None:
    harm(started[0])
    deadline = time.monotonic() + _PATIENCE_S
    while len(started) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(started) == 2
    assert not started[0].alive()
    assert started[1].alive()
    assert started[1].socket.exists()
