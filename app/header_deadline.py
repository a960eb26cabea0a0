"""Connections whose request never begins are closed: uvicorn itself would wait for ever."""

import asyncio
import logging

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 15.0
"""For the request line and all headers, from the connection or the end of the last answer on."""

_log = logging.getLogger(__name__)


class HeaderDeadline(H11Protocol):
    """HTTP/1.1 with a time limit for headers; bodies have one in the request guard."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the clock."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._request_is_here()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Stop the clock when the headers are complete."""
        super().handle_events()
        if self.conn.their_state is not h11.IDLE:
            self._request_is_here()

    def on_response_complete(self) -> None:
        """Start the clock for the next request of the connection."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._wait_for_request()

    def _wait_for_request(self) -> None:
        self._request_is_here()
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._close)

    def _request_is_here(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        _log.info("a client did not send its request within %.0f s", HEADER_SECONDS)
        self._deadline = None
        self.transport.close()
