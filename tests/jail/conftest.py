"""Fork servers for the tests: real processes on the real kernel."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workers.jail import (
    JailClient,
    Limits,
    Outcome,
    Profile,
    ServerProcess,
    Status,
    interpreter_paths,
    probe,
    start_server,
)
from workers.jail.processes import usage

MIB = 1 << 20
ENTRY = "tests.jail.entries:run"
TESTS = Path(__file__).parent
LIMITS = Limits(
    wall_s=30,
    cpu_s=5,
    memory_bytes=200 * MIB,
    processes=24,
    open_files=64,
    file_bytes=8 * MIB,
    scratch_bytes=16 * MIB,
    scratch_inodes=200,
    output_bytes=MIB,
    result_bytes=MIB,
)
Run = Callable[..., Outcome]


def make_profile(**more: object) -> Profile:
    """The profile of the tests' servers, with changes."""
    readable = (*interpreter_paths(), TESTS)
    values = {"name": "test", "readable": readable, "env": {"PATH": "/usr/bin", "LANG": "C.UTF-8"}}
    return Profile(**{**values, **more})  # type: ignore[arg-type]


def living(server: ServerProcess, patience: float = 1.0) -> frozenset[int]:
    """Processes below the server that still live after a moment."""
    deadline = time.monotonic() + patience
    while (pids := usage(Path("/proc"), server.pid).pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    return pids


@pytest.fixture(scope="session", autouse=True)
def jail_level() -> None:
    """Skip where this machine cannot jail at all; a server would refuse to start."""
    level = probe()
    if level.missing:
        pytest.skip(f"no jail here: {level.describe()}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, jail_level: None) -> Iterator[ServerProcess]:
    """One server for all tests, started with a secret in the caller's environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDIS_URL", "redis://:canary-secret@localhost")
        runtime = tmp_path_factory.mktemp("jail")
        process = start_server(runtime, "test", make_profile(), ("json", "wsgiref.util"), ENTRY)
    yield process
    process.stop()


@pytest.fixture
def run(server: ServerProcess) -> Run:
    """Run one entry function of the tests, by name."""

    def call(name: str, argument: bytes = b"", limits: Limits = LIMITS) -> Outcome:
        return JailClient(server.socket).run(name.encode() + b" " + argument, limits)

    return call


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test that used the server: no process is left, an honest request works."""
    yield
    if "server" not in request.fixturenames:
        return
    server: ServerProcess = request.getfixturevalue("server")
    assert not living(server)
    outcome = JailClient(server.socket).run(b"echo still here", LIMITS)
    assert (outcome.status, outcome.result) == (Status.OK, b"still here")
