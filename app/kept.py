"""What takes long to work out, kept as long as nothing of it has changed."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Kept(Generic[Found]):
    """At most so many things, each in its latest version; safe to share between threads."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._known: OrderedDict[Hashable, tuple[Hashable, Found]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: Hashable, version: Hashable, make: Callable[[], Found]) -> Found:
        """The thing in that version, which was read before it is made; made at most once or so."""
        with self._lock:
            known = self._known.get(name)
        if known is not None and known[0] == version:
            return known[1]
        found = make()
        with self._lock:
            self._known[name] = (version, found)
            self._known.move_to_end(name)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return found
