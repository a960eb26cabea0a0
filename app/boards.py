"""Boards, worked out once for each change of a board instead of once for each request."""

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache

from app import presenting
from app.schemas import Board
from app.store import Store, board
from app.store.board import BoardName, Standing

_MOST_KEPT = 128
_MOST_RECORDS = 200


@dataclass(frozen=True)
class Rendered:
    """A board, and what is sent of it."""

    version: int
    board: Board
    body: bytes
    """As JSON."""
    tag: str
    """ETag: the same content has the same one, in every process."""


class Boards:
    """Keeps boards until they change; one per process, safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[BoardName, int], Rendered] = OrderedDict()
        self._lock = threading.Lock()
        self._records = lru_cache(_MOST_KEPT)(self._read_records)

    def records(self, name: BoardName) -> tuple[Standing, ...]:
        """What was faster than all before it, the first first; at most the latest 200."""
        with self._store.read() as session:
            version = board.version(session, name)
        return self._records(name, version)

    def _read_records(self, name: BoardName, _: int) -> tuple[Standing, ...]:
        with self._store.read() as session:
            return tuple(board.records(session, name, _MOST_RECORDS))

    def get(self, name: BoardName, limit: int) -> Rendered:
        """The top of a board as it is now."""
        with self._store.read() as session:
            # Read before the entries: what is newer than its number is worked out again.
            version = board.version(session, name)
            with self._lock:
                kept = self._kept.get((name, limit))
            if kept is not None and kept.version == version:
                return kept
            found = presenting.board(session, name, limit)
        body = found.model_dump_json().encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        rendered = Rendered(version, found, body, tag)
        with self._lock:
            self._kept[name, limit] = rendered
            self._kept.move_to_end((name, limit))
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return rendered
