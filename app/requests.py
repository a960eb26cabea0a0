"""Every request gets an id, a line in the log, and a place in the latency histogram."""

import logging
import re
import secrets
import time

from prometheus_client import Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kernels.logs import about

HEADER = "X-Request-Id"
_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_QUIET = ("/static/", "/metrics", "/ready")
_log = logging.getLogger("app.requests")


class RequestLog:
    """Outermost: what is refused early is logged as well."""

    def __init__(self, app: ASGIApp, seconds: Histogram) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; note its status when the answer begins, its time when it ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        name = _request_id(Headers(scope=scope).get(HEADER))
        started, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = name
            await send(message)

        with about(request=name):
            try:
                await self._app(scope, receive, answer)
            finally:
                self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        self._seconds.labels(scope["method"], route, f"{status // 100}xx").observe(seconds)
        if not scope["path"].startswith(_QUIET):
            facts = {"status": str(status), "milliseconds": f"{seconds * 1000:.1f}"}
            # The path may hold anything that a client sends; %r keeps it on one line.
            _log.info("%s %r", scope["method"], scope["path"], extra={"facts": facts})


def _request_id(given: str | None) -> str:
    """A proxy's, so that its log and ours agree; our own where there is none."""
    return given if given and _ID.fullmatch(given) else secrets.token_hex(8)
