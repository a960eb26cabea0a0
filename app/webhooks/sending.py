"""One attempt at telling: to which address it may go, signed, and what came of it."""

import hashlib
import hmac
import ipaddress
import socket
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from app.store.webhooks import Due

_TIMEOUT_SECONDS = 10.0
_LIMITS = httpx.Limits(max_keepalive_connections=0)


class NotAllowed(Exception):
    """An address that nothing is sent to; the text says why."""


@dataclass
class Sender:
    """Sends; where `private` is allowed, also to this machine and networks that are not public."""

    private: bool = False
    _http: httpx.Client = field(
        default_factory=lambda: httpx.Client(
            timeout=_TIMEOUT_SECONDS, limits=_LIMITS, trust_env=False, follow_redirects=False
        )
    )

    def check(self, url: str) -> None:
        """NotAllowed for an address that nothing will ever be sent to."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            raise NotAllowed("it is no address") from None
        if not host or parts.username is not None or parts.fragment:
            raise NotAllowed("it has no host, or a user name, or a part after #")
        if parts.scheme != "https" and not (self.private and parts.scheme == "http"):
            raise NotAllowed("it does not begin with https://")
        if self._is_address(host):
            self._check_address(host)

    def send(self, due: Due) -> tuple[bool, str]:
        """Whether it was taken, and the answer in a word."""
        try:
            self.check(due.url)
            answer = self._http.send(self._request(due), stream=True)
            answer.close()  # what it says is nobody's business
            return answer.is_success, f"HTTP {answer.status_code}"
        except NotAllowed as refusal:
            return False, f"not sent: {refusal}"
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return False, type(error).__name__

    def _request(self, due: Due) -> httpx.Request:
        """To an address that was looked up and looked at, so that no later answer for the name
        leads elsewhere; the certificate is still the name's."""
        url = httpx.URL(due.url)
        address = self._resolved(url.host, url.port or (443 if url.scheme == "https" else 80))
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
        return self._http.build_request(
            "POST", to, content=due.body.encode(), headers=headers, extensions=named
        )

    def _resolved(self, host: str, port: int) -> str:
        found = [info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        for address in found:
            self._check_address(str(address))
        return str(found[0])

    def _check_address(self, text: str) -> None:
        address = ipaddress.ip_address(text.partition("%")[0])
        mapped = getattr(address, "ipv4_mapped", None) or address
        if not (mapped.is_global and not mapped.is_multicast) and not self.private:
            raise NotAllowed("its host is not on the public network")

    @staticmethod
    def _is_address(host: str) -> bool:
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True


def signature(secret: str, body: str, at: int) -> str:
    """Of a body as it was sent at a moment: nobody else can make it, nor use it later."""
    signed = hmac.digest(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hex()
    return f"t={at},v1={signed}"
