"""Keeps one fork server alive, from a thread of its own.

A fork server ends with the thread that started it, and it takes seconds to import torch: with a
thread each, all servers of a host start at once and each is started again when it ends.
"""

import logging
import threading
from collections.abc import Callable

from workers.jail import JailRefused, ServerProcess

_log = logging.getLogger(__name__)
_LOOK_S = 0.5


class ServerKeeper(threading.Thread):
    """Runs until `stop`; a server that cannot start the first time is the host's failure."""

    def __init__(self, start: Callable[[], ServerProcess], name: str) -> None:
        super().__init__(name=f"keeper-{name}", daemon=True)
        self._start_server = start
        self._server_name = name
        self._decided = threading.Event()
        self._stopping = threading.Event()
        self._failure: Exception | None = None

    def wait_ready(self) -> None:
        """Until the server is up; JailRefused, ValueError or OSError if it will not come up."""
        self._decided.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """End the server and this thread."""
        self._stopping.set()
        self.join()

    def run(self) -> None:
        """Start, watch, start again."""
        try:
            server = self._start_server()
        except (JailRefused, ValueError, OSError) as error:
            self._failure = error
            return
        finally:
            self._decided.set()
        while not self._stopping.wait(_LOOK_S):
            if not server.alive():
                server = self._again(server)
            elif not server.socket.exists():  # a cleaner of old files, or a mistake
                server.stop()
                server = self._again(server)
        server.stop()

    def _again(self, dead: ServerProcess) -> ServerProcess:
        _log.warning("fork server %s ended; starting it again", self._server_name)
        try:
            return self._start_server()
        except (JailRefused, OSError) as error:
            _log.error("fork server %s: %s", self._server_name, error)
            return dead
