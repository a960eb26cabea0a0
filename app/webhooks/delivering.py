"""The loop that tells what is due, and tells it again where it failed."""

import logging
import threading
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from app import clock
from app.store import Store, webhooks
from app.webhooks.sending import Sender

AGAIN = tuple(timedelta(seconds=s) for s in (10, 60, 600, 3600, 6 * 3600, 24 * 3600))
"""After each failure; after the last it is given up."""

_LOOK_SECONDS = 2.0
_BATCH = 50
"""Told at once."""
_TAKEN = timedelta(minutes=10)
"""Longer than a batch may take; whoever dies with one, its deliveries are tried again then."""
_PRUNE_LOOKS = 1800
_log = logging.getLogger(__name__)


class Deliverer:
    """Delivers at least once; several processes share the work."""

    def __init__(self, store: Store, sender: Sender) -> None:
        self._store = store
        self._sender = sender

    def run(self, stop: threading.Event) -> None:
        """Look every two seconds until told to stop; a database that is away is tried again."""
        looks = 0
        while not stop.wait(_LOOK_SECONDS):
            try:
                while self.deliver() and not stop.is_set():
                    pass
                if looks % _PRUNE_LOOKS == 0:
                    with self._store.write() as session:
                        webhooks.prune(session)
            except SQLAlchemyError as error:
                _log.warning("webhooks wait for the database: %s", type(error).__name__)
            looks += 1

    def deliver(self) -> int:
        """Try what is due once; how many."""
        with self._store.read() as session:
            if not webhooks.is_due(session):
                return 0
        with self._store.write() as session:
            found = webhooks.take(session, _BATCH, clock.now() + _TAKEN)
        for due, (ok, outcome) in zip(found, self._sender.send(found), strict=True):
            over = ok or due.attempts >= len(AGAIN)
            again = None if over else clock.now() + AGAIN[due.attempts]
            with self._store.write() as session:
                webhooks.note(session, due, outcome, again, ok=ok)
            if not ok:
                _log.info("webhook delivery %d failed: %s", due.id, outcome)
        return len(found)
