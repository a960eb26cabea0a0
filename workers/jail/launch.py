"""Starting and stopping a fork server from the process that supervises a host's workers."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

from workers.jail.environment import environment
from workers.jail.level import JailLevel
from workers.jail.profile import Profile

_SOURCE_ROOT = Path(__file__).resolve().parents[2]
_STOP_S = 10.0


class JailRefused(Exception):
    """The server would not start; the message names what is missing and the remedy."""


class ServerProcess:
    """A running fork server."""

    def __init__(self, process: subprocess.Popen[bytes], socket: Path, level: JailLevel) -> None:
        self.socket = socket
        self.level = level
        """The layers in force, for health pages and reports."""
        self._process = process

    @property
    def pid(self) -> int:
        """The server's process id, for logs."""
        return self._process.pid

    def alive(self) -> bool:
        """Whether the server still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the server and every jail of it; does nothing when it has ended."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _read_line(descriptor: int, seconds: float) -> bytes:
    """The one line of the server; what came of it at its end or after `seconds`."""
    deadline, line = time.monotonic() + seconds, b""
    while not line.endswith(b"\n"):
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
            break
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        line += chunk
    return line


def _command(
    socket: Path, profile: Path, preload: tuple[str, ...], entry: str, unsafe: bool
) -> list[str]:
    return [
        *(sys.executable, "-m", "workers.jail.server"),
        *("--socket", str(socket), "--profile", str(profile)),
        *("--preload", ",".join(preload), "--entry", entry),
        *("--parent", str(os.getpid())),
        *(["--unsafe"] if unsafe else []),
    ]


def _spawn(command: list[str], profile: Profile) -> tuple[subprocess.Popen[bytes], int]:
    reader, writer = os.pipe()
    try:
        process = subprocess.Popen(
            [*command, "--ready-fd", str(writer)],
            cwd=_SOURCE_ROOT,
            env=environment(profile),
            stdin=subprocess.DEVNULL,
            pass_fds=(writer,),
        )
    finally:
        os.close(writer)
    return process, reader


def start_server(
    runtime_dir: Path,
    name: str,
    profile: Profile,
    preload: tuple[str, ...],
    entry: str,
    unsafe: bool = False,
    timeout: float = 300.0,
) -> ServerProcess:
    """Start a fork server and wait, at most `timeout` seconds, until it is ready.

    All servers of a host share one `runtime_dir`. `preload` has dotted module names, `entry` is
    `package.module:function` from bytes to bytes. The server dies with the calling thread, so
    call from one that lives as long as the workers. JailRefused if it does not come up.
    """
    runtime_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    socket = runtime_dir.resolve() / f"{name}.sock"
    socket.unlink(missing_ok=True)
    profile_file = socket.with_suffix(".json")
    profile_file.write_text(profile.to_json())
    process, reader = _spawn(_command(socket, profile_file, preload, entry, unsafe), profile)
    line = _read_line(reader, timeout)
    os.close(reader)
    message = json.loads(line) if line.endswith(b"\n") else {}
    if "level" in message:
        return ServerProcess(process, socket, JailLevel.from_json(message["level"]))
    process.kill()
    process.wait()
    default = f"the server {name} did not get ready in {timeout:.0f} s; see its messages above"
    raise JailRefused(message.get("refused", default))
