"""What a worker uses: one request to a fork server, one outcome back."""

import socket
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workers.jail import wire
from workers.jail.outcome import JailUnavailable, Outcome, Status
from workers.jail.profile import Limits

# Over the wall limit: making the jail, killing it, and moving the result.
_GRACE_S = 60.0
_CONNECT_S = 5.0
_LOOK_AGAIN_S = 0.1
_MOST_TEXT_BYTES = 1 << 20


def _connect(path: Path, patience: float) -> socket.socket:
    """A connection; a server that is being started again is waited for."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return _connect_once(path)
        except JailUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_AGAIN_S)


def _connect_once(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_CONNECT_S)
    try:
        connection.connect(str(path))
    except OSError as error:
        connection.close()
        raise JailUnavailable(f"no jail server at {path} ({error}): start it") from error
    return connection


def _outcome(header: dict[str, Any], parts: list[bytes]) -> Outcome:
    if "unavailable" in header:
        raise JailUnavailable(header["unavailable"])
    result, error, output = parts
    header["status"] = Status(header["status"])
    return Outcome(**header, result=result, error=error.decode(), output=output.decode())


class JailClient:
    """A fork server, by the path of its socket; keeps no connection between runs.

    A server that does not answer is tried again for `patience` seconds. The `held` descriptors,
    such as those of locks, stay open until a jail is dead, also if this process dies before.
    """

    def __init__(self, socket_path: Path, patience: float = 0.0, held: Sequence[int] = ()) -> None:
        self._socket_path = socket_path
        self._patience = patience
        self._held = held

    def run(self, request: bytes, limits: Limits, timeout: float | None = None) -> Outcome:
        """Run the server's entry function on `request` in a new jail.

        `timeout` is in seconds, by default the wall limit and a minute. JailUnavailable if the
        server is down or breaks, or the jail cannot be made: never the fault of the request.
        """
        if len(request) > wire.MOST_REQUEST_BYTES:
            raise ValueError(f"a request has at most {wire.MOST_REQUEST_BYTES} bytes")
        patience = limits.wall_s + _GRACE_S if timeout is None else timeout
        with _connect(self._socket_path, self._patience) as connection:
            try:
                header = {"limits": asdict(limits)}
                wire.lend(connection, self._held, patience)
                wire.send(connection, header, request, timeout=patience)
                most = limits.result_bytes + _MOST_TEXT_BYTES
                return _outcome(*wire.receive(connection, most, patience))
            except wire.BrokenMessage as error:
                raise JailUnavailable(f"the jail server gave no answer: {error}") from error
