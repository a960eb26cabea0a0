"""A whole installation on this machine: the service and the workers, kept alive."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

ROOT = Path(__file__).resolve().parent.parent
_READY_S = 300
_ANSWER_S = 90
_LONG_POLL_S = 60
_END_S = 60
"""For a part to finish what it has at hand."""


class NotReady(RuntimeError):
    """The installation cannot come up; the message says why, or has the end of its logs."""


class Refused(RuntimeError):
    """The service refused a request; the message is its answer."""


@dataclass
class Part:
    """One of the two programs that make an installation."""

    module: str
    stack: "Stack"
    process: subprocess.Popen[bytes] | None = None
    _log_start: int | None = None
    """Where in the log this installation's words begin."""

    @property
    def log(self) -> Path:
        """Where it writes what it says."""
        return self.stack.data_dir / f"{self.module}.log"

    def keep_alive(self) -> None:
        """Start it unless it runs."""
        if self.process is None or self.process.poll() is not None:
            with self.log.open("ab") as log:
                if self._log_start is None:
                    self._log_start = log.tell()
                self.process = subprocess.Popen(
                    [sys.executable, "-m", self.module],
                    cwd=ROOT,
                    env=self.stack.environment | self.stack.own.get(self.module, {}),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )

    def stop(self) -> None:
        """Ask it to end, and wait; what does not end is killed, and its children end with it."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def explain(self) -> str:
        """The end of its log."""
        if self._log_start is None:
            return f"{self.module} was not started"
        with self.log.open(errors="replace") as log:
            log.seek(self._log_start)
            lines = log.read().splitlines()
        return f"--- the end of {self.log}\n" + "\n".join(lines[-25:])


@dataclass
class Stack:
    """Service and workers on one data directory and one port of the loopback address."""

    data_dir: Path
    port: int = 8000
    settings: dict[str, str] = field(default_factory=dict)
    """Further environment variables."""
    own: dict[str, dict[str, str]] = field(default_factory=dict)
    """Environment variables of one program only, by its module."""
    parts: list[Part] = field(init=False)
    _lock: IO[str] | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        self.parts = [Part("app", self), Part("workers", self)]

    @property
    def environment(self) -> dict[str, str]:
        """What both programs get."""
        mine = {"KERNELJUDGE_DATA_DIR": str(self.data_dir), "KERNELJUDGE_PORT": str(self.port)}
        return os.environ | self.settings | mine

    @property
    def address(self) -> str:
        """Where the pages are."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        """NotReady if another installation has the folder or something else the port."""
        self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_free(self.port)
        self._lock = _lock(self.data_dir)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for part in reversed(self.parts):
            part.stop()
        if self._lock is not None:
            self._lock.close()

    def keep_alive(self) -> None:
        """Start again what has ended."""
        for part in self.parts:
            part.keep_alive()

    def wait_until_ready(self) -> dict[str, Any]:
        """Start all and wait until a worker of each kind is idle; the health that says so."""
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline:
            for part in self.parts:
                if part.process is not None and part.process.poll() is not None:
                    raise NotReady(part.explain())
            self.keep_alive()
            health = self.ask("/api/v1/health")
            if (
                health
                and health["workers"]
                and all(worker["state"] != "starting" for worker in health["workers"])
            ):
                return health
            time.sleep(0.2)
        raise NotReady("\n".join(part.explain() for part in self.parts))

    def submit(self, task: str, source: str, wait: float = 0, **fields: str) -> dict[str, Any]:
        """Submit a source; the submission as it is after at most `wait` seconds."""
        detail = self.ask("/api/v1/submissions", {"task": task, "source": source} | fields)
        return self._follow(detail, wait)

    def follow(self, submission: str, wait: float) -> dict[str, Any]:
        """A submission as it is when it is finished, or after `wait` seconds."""
        return self._follow(self.ask(f"/api/v1/submissions/{submission}"), wait)

    def _follow(self, detail: dict[str, Any] | None, wait: float) -> dict[str, Any]:
        deadline = time.monotonic() + wait
        while detail and detail["stage"] != "finished" and time.monotonic() < deadline:
            seconds = min(_LONG_POLL_S, max(1, int(deadline - time.monotonic())))
            detail = self.ask(f"/api/v1/submissions/{detail['id']}?wait={seconds}")
        if detail is None:
            raise NotReady(f"nobody answers at {self.address}")
        return detail

    def ask(self, path: str, body: dict[str, str] | None = None) -> dict[str, Any] | None:
        """A JSON answer, or None while nobody answers. Refused with the service's words."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_S) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            raise Refused(error.read().decode(errors="replace")) from None
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None


def _lock(folder: Path) -> IO[str]:
    """Held while the file is open. Two installations on one folder stop each other's Redis."""
    file = (folder / "lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise NotReady(
            f"another installation runs on {folder}: end it, or set KERNELJUDGE_DATA_DIR "
            "to another folder"
        ) from None
    return file


def _check_free(port: int) -> None:
    """Whoever has the port would answer in this installation's place."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise NotReady(
                f"port {port} cannot be had ({error.strerror}): set KERNELJUDGE_PORT to another"
            ) from None
