"""The installation that is to be hurt, and the handles by which it is hurt."""

import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from kernels.contract import STREAM
from scripts.stack import ROOT, Part, Stack
from tests.chaos.ledger import Ledger
from tests.processes import Find, Process, horse, installation, queue_worker

REPEATED = b"repeated"
"""Field of an entry that was put into the stream here, for the second time."""
_FIND_S = 10.0
_USUAL_DESCRIPTORS = 1024


@dataclass
class Site:
    """A running installation under load."""

    stack: Stack
    ledger: Ledger
    chance: random.Random
    disk: Path | None
    """Where the data lie on a small disk of their own; None where none could be mounted."""
    clock: Path | None
    """File that says by how many seconds the wall clock is off; None without a C compiler."""

    @property
    def redis(self) -> redis.Redis:
        """A connection of one's own to the embedded server."""
        return redis.Redis(unix_socket_path=f"{self.stack.data_dir}/redis.sock", socket_timeout=2)

    def kill(self, find: Find, number: int = signal.SIGKILL) -> list[Process]:
        """Send a signal to some processes, waiting a while for one to be there."""
        deadline = time.monotonic() + _FIND_S
        while time.monotonic() < deadline:
            found = find(installation(self.stack))
            for process in found:
                self.signal(process, number)
            if found:
                return found
            time.sleep(0.02)
        return []

    @staticmethod
    def signal(process: Process, number: int) -> None:
        """Send a signal to a process that may have ended."""
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return

    def limit_descriptors(self, soft: int | None) -> int:
        """Set how many descriptors queue workers and their horses may have; None for the usual."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        usual = min(_USUAL_DESCRIPTORS, hard)
        processes = installation(self.stack)
        found = [*queue_worker(processes), *horse(processes)]
        for process in found:
            with suppress(ProcessLookupError):
                limits = (usual if soft is None else soft, hard)
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
        return len(found)

    def next_event(self, kind: str, word: str = "") -> dict[str, Any] | None:
        """The next word of a worker of that kind; None if none comes for a while."""
        deadline, last = time.monotonic() + _FIND_S, "$"
        while time.monotonic() < deadline:
            try:
                answer: Any = self.redis.xread({STREAM: last}, block=1000)
            except redis.RedisError:
                time.sleep(0.05)
                continue
            for _, entries in answer or ():
                for stream_id, fields in entries:
                    last = stream_id
                    event: dict[str, Any] = json.loads(fields[b"event"])
                    if (
                        REPEATED not in fields
                        and event["kind"] == kind
                        and word in event.get("detail", "")
                    ):
                        return event
        return None


@contextmanager
def installation_under_load(
    folder: Path,
    ledger: Ledger,
    chance: random.Random,
    *,
    disk: bool,
    clock: bool,
    settings: Mapping[str, str] = {},
) -> Iterator[Site]:
    """Service, workers and stand-in measurers, started again whenever they end."""
    done = threading.Event()
    environment = {
        "KERNELJUDGE_TASKS_DIR": str(ROOT / "tests" / "chaos" / "tasks"),
        "KERNELJUDGE_BUILD_WORKERS": "2",
        **settings,
    }
    offset = _clock(folder) if clock else None
    if offset is not None:
        environment |= {"LD_PRELOAD": str(folder / "clock.so"), "CHAOS_CLOCK": str(offset)}
    with Stack(folder / "data", _free_port(), environment) as stack:
        stack.parts = [Part("app", stack), Part("tests.chaos.host", stack)]
        stack.wait_until_ready()
        keeper = threading.Thread(target=_keep_alive, args=(stack, done))
        keeper.start()
        try:
            small = folder / "data" if disk else None
            yield Site(stack, ledger, chance, small, offset)
        finally:
            done.set()
            keeper.join()


def _keep_alive(stack: Stack, done: threading.Event) -> None:
    while not done.wait(0.2):
        stack.keep_alive()


def _clock(folder: Path) -> Path | None:
    """Build the wall clock that can be set for these processes alone."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source = Path(__file__).with_name("clock.c")
    words = [compiler, "-shared", "-fPIC", "-O2", "-o", str(folder / "clock.so"), str(source)]
    subprocess.run(words, check=True)
    offset = folder / "clock"
    offset.write_bytes(bytes(8))
    return offset


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
