"""Keeps guessing slow: how often something may be tried, over all processes together."""

import hashlib
import ipaddress
import math
from dataclasses import dataclass
from datetime import timedelta

from app import clock
from app.errors import TooManyRequests
from app.store import Store, tries


@dataclass(frozen=True)
class Rate:
    """At most so many tries in a time that begins with the first."""

    what: str
    """For the key and for people."""
    most: int
    within: timedelta


GUESSES = Rate("sign in to this account from here", 10, timedelta(minutes=15))
GUESSES_BY_ALL = Rate("sign in to this account", 100, timedelta(minutes=15))
GUESSES_FROM = Rate("sign in from here", 100, timedelta(minutes=15))
PROVIDER_FROM = Rate("sign in by the provider from here", 1000, timedelta(minutes=15))
"""Going there and coming back count as one each, since either can have the provider asked."""
SIGN_UPS_FROM = Rate("sign up from here", 60, timedelta(hours=1))


class Throttle:
    """Counts before anything is tried, so that tries at the same time count as well."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def count(self, *tried: tuple[Rate, str]) -> None:
        """Count one more of each; TooManyRequests if one is over its rate."""
        now = clock.now()
        with self._store.write() as session:
            counts = [
                (rate, *tries.count_up(session, _key(rate, about), rate.within))
                for rate, about in tried
            ]
        for rate, count, since in counts:
            if count > rate.most:
                wait = max(1, math.ceil((since + rate.within - now).total_seconds()))
                raise TooManyRequests(
                    f"too many attempts to {rate.what}",
                    f"Wait {max(1, wait // 60)} min, then try again.",
                    retry_after=wait,
                )

    def forget(self, rate: Rate, about: str) -> None:
        """Start anew, since the last try was right."""
        with self._store.write() as session:
            tries.forget(session, _key(rate, about))


def network(address: str | None) -> str:
    """Whose address it is: one of IPv4, or the 64 bits that a subscriber of IPv6 gets."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def _key(rate: Rate, about: str) -> str:
    text = f"{rate.what}\0{about}".encode(errors="surrogatepass")
    return hashlib.sha256(text).hexdigest()
