"""Wakes whoever waits for a submission, over Redis pub/sub: one subscription per process."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import redis
import redis.asyncio

from app.attempts import UPDATES

_RECONNECT_SECONDS = 1.0
_LOOK_AGAIN_SECONDS = 3.0
_LOOKS_A_SECOND = 30
"""Of all who watch together, beside those that were woken."""
_log = logging.getLogger(__name__)


class Updates:
    """Belongs to the event loop that runs `listen`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._watching: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._watchers = 0
        self.closed = False
        """Whether the process is about to end and nobody should wait any more."""

    @property
    def patience(self) -> float:
        """Seconds after which a watcher looks although nobody woke it."""
        return max(_LOOK_AGAIN_SECONDS, self._watchers / _LOOKS_A_SECOND)

    @contextmanager
    def watch(self, submission: str) -> Iterator[asyncio.Event]:
        """An event that is set at each change of a submission; the watcher clears it."""
        changed = asyncio.Event()
        self._watching[submission].add(changed)
        self._watchers += 1
        try:
            yield changed
        finally:
            self._watchers -= 1
            watchers = self._watching[submission]
            watchers.discard(changed)
            if not watchers:
                del self._watching[submission]

    async def listen(self) -> None:
        """Pass messages on until cancelled; Redis may come and go."""
        while True:
            try:
                async with redis.asyncio.from_url(self._url) as connection:
                    await self._follow(connection)
            except redis.RedisError as error:
                _log.warning("updates cannot be followed: %s", error)
            await asyncio.sleep(_RECONNECT_SECONDS)

    def close(self) -> None:
        """Wake everybody for the last time."""
        self.closed = True
        self._wake_all()

    async def _follow(self, connection: redis.asyncio.Redis) -> None:
        async with connection.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(UPDATES)
            self._wake_all()  # something may have been missed
            try:
                async for message in channel.listen():
                    for changed in self._watching.get(message["data"].decode(errors="replace"), ()):
                        changed.set()
            finally:  # the channel's own end would not wait until TLS has said goodbye
                if channel.connection is not None:
                    await channel.connection.disconnect()

    def _wake_all(self) -> None:
        for watchers in self._watching.values():
            for changed in watchers:
                changed.set()
