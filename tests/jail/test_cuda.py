"""The jail of the measurer: the same layers, and a GPU that works."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.jail.conftest import ENTRY, LIMITS, MIB, TESTS
from workers.jail import JailClient, Profile, ServerProcess, Status, interpreter_paths, start_server

NODES = tuple(Path("/dev") / name for name in ("nvidiactl", "nvidia-uvm", "nvidia0"))
DRIVER = tuple(Path(path) for path in ("/usr/local/nvidia",) if Path(path).exists())
CUDA_LIMITS = replace(
    LIMITS, wall_s=30, cpu_s=60, memory_bytes=4096 * MIB, open_files=256, processes=256
)
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not all(node.exists() for node in NODES), reason="no NVIDIA GPU here"),
]


def start(folder: Path, **changes: object) -> ServerProcess:
    """A server with the measurer's exceptions."""
    env = {"PATH": "/usr/bin", "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
    readable = (*interpreter_paths(), *DRIVER, TESTS)
    profile = Profile("cuda", readable, devices=NODES, cuda_sockets=True, env=env)
    return start_server(folder, "cuda", replace(profile, **changes), (), ENTRY)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The measurer's server, for this file in place of the one without a GPU."""
    process = start(tmp_path_factory.mktemp("cuda"))
    yield process
    process.stop()


def test_gpu_works_in_the_jail(server: ServerProcess) -> None:
    outcome = JailClient(server.socket).run(b"cuda_memory", CUDA_LIMITS)
    assert (outcome.status, outcome.error) == (Status.OK, "")
    codes, back = json.loads(outcome.result)
    assert set(codes.values()) == {0}, codes
    assert back == [7] * 4


def test_gpu_is_not_there_without_its_nodes(tmp_path: Path) -> None:
    server = start(tmp_path, devices=())
    outcome = JailClient(server.socket).run(b"cuda_memory", CUDA_LIMITS)
    server.stop()
    assert list(json.loads(outcome.result)[0]) == ["init"]
