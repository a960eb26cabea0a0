"""One attempt at telling: to which address it may go, signed, and what came of it."""

import asyncio
import hashlib
import hmac
import ipaddress
import socket
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from ssl import SSLContext
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from app.store.webhooks import Due

_WITHIN_SECONDS = 10.0
"""From asking whose turn it is to the end: a byte now and then would otherwise last for ever."""
_AT_ONCE = 4
"""To one host."""
_LIMITS = httpx.Limits(max_keepalive_connections=0)
_PUBLIC = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is handed out."""
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""Addresses of IPv4, as networks that have IPv6 alone know them (RFC 6052)."""


class Outcome(NamedTuple):
    """What came of an attempt."""

    ok: bool
    """Whether it was taken."""
    word: str


class NotAllowed(Exception):
    """An address that nothing is sent to; the text says why."""


@dataclass
class Sender:
    """Sends; where `private` is allowed, also to this machine and networks that are not public."""

    private: bool = False

    @cached_property
    def _tls(self) -> SSLContext:
        return httpx.create_ssl_context(trust_env=False)

    def check(self, url: str) -> None:
        """NotAllowed for an address that nothing will ever be sent to."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
            httpx.URL(url).host.encode("idna")
        except (ValueError, httpx.InvalidURL):
            raise NotAllowed("it is no address") from None
        if not host or parts.username is not None or parts.fragment:
            raise NotAllowed("it has no host, or a user name, or a part after #")
        if parts.scheme != "https" and not (self.private and parts.scheme == "http"):
            raise NotAllowed("it does not begin with https://")
        if self._is_address(host):
            self._check_address(host)

    def send(self, found: Sequence[Due]) -> list[Outcome]:
        """Of each; all at once, so that nobody who answers late holds another up."""
        return asyncio.run(self._send_all(found))

    async def _send_all(self, found: Sequence[Due]) -> list[Outcome]:
        lookups = ThreadPoolExecutor(max(1, len(found)))  # which nothing else can end
        asyncio.get_running_loop().set_default_executor(lookups)
        async with httpx.AsyncClient(
            verify=self._tls, limits=_LIMITS, timeout=None, trust_env=False, follow_redirects=False
        ) as http:
            turns: dict[str, asyncio.Semaphore] = {}
            for due in found:
                turns.setdefault(_host(due), asyncio.Semaphore(_AT_ONCE))
            return await asyncio.gather(*(self._send(http, d, turns[_host(d)]) for d in found))

    async def _send(self, http: httpx.AsyncClient, due: Due, turn: asyncio.Semaphore) -> Outcome:
        try:
            self.check(due.url)
            async with asyncio.timeout(_WITHIN_SECONDS), turn:
                answer = await http.send(await self._request(http, due), stream=True)
                await answer.aclose()  # what it says is nobody's business
            return Outcome(answer.is_success, f"HTTP {answer.status_code}")
        except NotAllowed as refusal:
            return Outcome(False, f"not sent: {refusal}")
        except TimeoutError:
            return Outcome(False, f"no answer within {_WITHIN_SECONDS:.0f} s")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return Outcome(False, type(error).__name__)

    async def _request(self, http: httpx.AsyncClient, due: Due) -> httpx.Request:
        """To an address that was looked up and looked at, so that no later answer for the name
        leads elsewhere; the certificate is still the name's."""
        url = httpx.URL(due.url)
        port = url.port or (443 if url.scheme == "https" else 80)
        address = await self._resolved(url.host, port)
        headers = {
            "Host": url.netloc.decode(),
            "Content-Type": "application/json",
            "User-Agent": "kerneljudge",
            "Kerneljudge-Event": due.event,
            "Kerneljudge-Delivery": str(due.id),
            "Kerneljudge-Signature": signature(due.secret, due.body, int(time.time())),
        }
        named = {"sni_hostname": url.host}
        to = url.copy_with(host=address)
        return http.build_request(
            "POST", to, content=due.body.encode(), headers=headers, extensions=named
        )

    async def _resolved(self, host: str, port: int) -> str:
        loop = asyncio.get_running_loop()
        answers = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        found = [info[4][0] for info in answers]
        for address in found:
            self._check_address(str(address))
        return str(found[0])

    def _check_address(self, text: str) -> None:
        if not (self.private or _is_public(ipaddress.ip_address(text.partition("%")[0]))):
            raise NotAllowed("its host is not on the public network")

    @staticmethod
    def _is_address(host: str) -> bool:
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True


def _host(due: Due) -> str:
    return due.url.partition("://")[2].partition("/")[0]


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """An address of IPv4 within one of IPv6 is looked at as what it is."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return _is_public(inner)
        if address not in _PUBLIC:
            return False
    return address.is_global and not address.is_multicast


def signature(secret: str, body: str, at: int) -> str:
    """Of a body as it was sent at a moment: nobody else can make it, nor use it later."""
    signed = hmac.digest(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hex()
    return f"t={at},v1={signed}"
