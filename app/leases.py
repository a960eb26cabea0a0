"""Who holds an attempt, as Redis knows it: workers take and renew leases, the service ends them."""

from typing import Any

import redis

from kernels.contract import lease_key
from kernels.contract.event import CANCELLED, LEASE_SECONDS

_OVER_SECONDS = 3600
"""Longer than any job may take."""


def is_held(connection: redis.Redis, work: str, attempt: int) -> bool:
    """Whether a worker holds it; where a hold is to last longer, Redis's clock was set back."""
    left: Any = connection.pttl(lease_key(work, attempt))
    return 0 <= int(left) <= 1000 * LEASE_SECONDS


def turn_away(connection: redis.Redis, work: str, attempt: int) -> None:
    """Let nobody hold an attempt that is over; the worker that has it notices within seconds."""
    connection.set(lease_key(work, attempt), CANCELLED, ex=_OVER_SECONDS)
