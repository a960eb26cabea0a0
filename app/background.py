"""Threads that must run as long as the service does: one that dies is started again."""

import logging
import threading
from collections.abc import Callable, Mapping

_LOOK_SECONDS = 0.5
_log = logging.getLogger(__name__)

Loop = Callable[[threading.Event], None]
"""Runs until the event is set."""


class Background:
    """Runs some loops, and `tend` twice a second; a loop's error is logged by `threading`."""

    def __init__(self, loops: Mapping[str, Loop], tend: Callable[[], None]) -> None:
        self._loops = loops
        self._tend = tend
        self._stop = threading.Event()
        self._threads: dict[str, threading.Thread] = {}
        self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)

    def start(self) -> None:
        """Start all loops."""
        self._revive()
        self._keeper.start()

    def stop(self) -> None:
        """Ask all loops to end and wait for them."""
        self._stop.set()
        self._keeper.join()
        for thread in self._threads.values():
            thread.join()

    def _keep(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            self._tend()
            self._revive()

    def _revive(self) -> None:
        for name, loop in self._loops.items():
            thread = self._threads.get(name)
            if thread is not None and thread.is_alive():
                continue
            if thread is not None:
                _log.error("%s has died and is started again", name)
            thread = threading.Thread(target=loop, args=(self._stop,), name=name, daemon=True)
            self._threads[name] = thread
            thread.start()
