"""The first thing a request meets: who it is addressed to, who sent it and how large it is."""

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import (
    Misdirected,
    RequestTimeout,
    ServiceError,
    TooLarge,
    UnsupportedMediaType,
    WrongOrigin,
)
from app.problems import json_problem
from kernels.contract import limits

BODY_BYTES = 6 * limits.SOURCE_BYTES + 64 * limits.KIB
"""A source whose every byte is a JSON escape, and room for the other fields."""

_BODY_SECONDS = 30.0
_UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


class RequestGuard:
    """Refuses before anything is parsed; a body is read here, within its limit."""

    def __init__(self, app: ASGIApp, allowed_hosts: frozenset[str] | None) -> None:
        self._app = app
        self._allowed_hosts = allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            if scope["method"] in _UNSAFE:
                if scope["path"].startswith("/api/"):
                    _check_origin(headers)
                receive = _replay(await _read(headers, receive), receive)
        except ServiceError as error:
            await json_problem(error.problem, {"Connection": "close"})(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        # A page of another site can make its name resolve to this machine; the browser then
        # takes us for that site, but still says so here.
        name = _hostname(headers.get("host", ""))
        if self._allowed_hosts is not None and name not in self._allowed_hosts:
            raise Misdirected(
                "the request is addressed to a name that is not this service's",
                "Use http://127.0.0.1, or add the name to KERNELJUDGE_PUBLIC_HOSTS.",
            )


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:  # brackets that are no IPv6 address
        return None


def _check_origin(headers: Headers) -> None:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    foreign = site not in (None, "same-origin", "none")
    if origin is not None and site is None:
        foreign = origin.partition("://")[2] != headers.get("host")
    if foreign:
        raise WrongOrigin(
            "a page of another site sent this request",
            "Send it from a script, or from a page of this service.",
        )


async def _read(headers: Headers, receive: Receive) -> bytes:
    if headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedMediaType("the body is compressed", "Send it uncompressed.")
    length = headers.get("content-length", "0")
    if not length.isdigit() or len(length) > 18 or int(length) > BODY_BYTES:
        raise _too_large()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await _read_all(receive)
    except TimeoutError:
        raise RequestTimeout(
            f"the body did not arrive within {_BODY_SECONDS:.0f} s", "Send it in one go."
        ) from None


async def _read_all(receive: Receive) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_BYTES:
            raise _too_large()
        more = message["type"] == "http.request" and message.get("more_body", False)
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    messages: Iterable[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    kept = iter(messages)

    async def replay() -> Message:
        message = next(kept, None)
        return await receive() if message is None else message

    return replay


def _too_large() -> TooLarge:
    return TooLarge(
        f"the request has more than {BODY_BYTES} bytes",
        f"A source may have {limits.SOURCE_BYTES >> 10} KiB; remove what the kernel does not need.",
    )
