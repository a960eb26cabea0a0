"""The loop of a fork server: one warden for each connection."""

import logging
import os
import select
import signal
import socket
import sys
import traceback
from typing import NoReturn

from workers.jail import init, linux, warden

_log = logging.getLogger(__name__)


class ForkServer:
    """Accepts connections, forks wardens and collects them."""

    def __init__(self, listener: socket.socket, service: warden.Service) -> None:
        self._listener = listener
        self._service = service
        self._stopping = False
        self._wardens: set[int] = set()
        self._woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        # The jail of a killed warden dies with it, and is collected here.
        linux.adopt_orphans()

    def serve(self) -> None:
        """Serve until SIGTERM or SIGINT, then end every jail."""
        while not self._stopping:
            ready, _, _ = select.select([self._listener.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
            if self._listener.fileno() in ready:
                self._accept()
            self._collect(os.WNOHANG)
        for pid in self._wardens:
            os.kill(pid, signal.SIGKILL)
        self._collect(0)

    def _stop(self, number: int, frame: object) -> None:
        self._stopping = True

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        try:
            pid = os.fork()
        except OSError as error:
            _log.error("no process for a jail: %s", error)
        else:
            if pid == 0:
                self._become_warden(connection)
            self._wardens.add(pid)
        connection.close()

    def _become_warden(self, connection: socket.socket) -> NoReturn:
        try:
            linux.die_with_parent(signal.SIGKILL)
            init.forget_signal_handlers()
            self._listener.close()
            os.close(self._woken)
            warden.serve(connection, self._service)
        finally:
            # Never back into the server's loop, whatever happened.
            if sys.exc_info()[0] is not None:
                traceback.print_exc()
            os._exit(0)

    def _collect(self, options: int) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, options)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._wardens.discard(pid)
