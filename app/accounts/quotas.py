"""How much a user may submit. Each submission is charged when it is taken in, with the most GPU
time that it may take; once it is finished, with what it took."""

import math
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from app import clock
from app.accounts.schemas import Quota, QuotaUse
from app.errors import TooManyRequests
from app.settings import Settings
from app.store import submissions, usage, users

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
_SOON_SECONDS = 10


@dataclass(frozen=True)
class Limits:
    """Of one user; None is no limit."""

    waiting: int
    hourly: int | None
    gpu_seconds: int | None
    """In a day."""


def limits_of(session: Session, settings: Settings, user: str) -> Limits:
    """The user's own where an admin has set them, otherwise the installation's."""
    if not settings.has_accounts:
        return Limits(settings.user_waiting_limit, None, None)
    row = users.by_name(session, user)
    if row is None:
        raise LookupError(f"no account {user!r}")
    return Limits(
        _first(row.waiting_limit, settings.user_waiting_limit),
        _first(row.hourly_limit, settings.user_hourly_limit),
        _first(row.gpu_seconds_limit, settings.user_gpu_seconds_limit),
    )


def admit(session: Session, settings: Settings, user: str, gpu_seconds: float) -> None:
    """TooManyRequests if a submission that may take so long is over a limit.

    Nobody else admits one of this user until the transaction ends.
    """
    usage.hold(session, user)
    limits = limits_of(session, settings, user)
    _check_waiting(session, user, limits.waiting)
    if limits.hourly is not None:
        _check_hourly(session, user, limits.hourly)
    if limits.gpu_seconds is not None and gpu_seconds:
        _check_gpu(session, user, limits.gpu_seconds, gpu_seconds)


def used(session: Session, settings: Settings, user: str) -> QuotaUse:
    """What a user has used of each limit."""
    limits, now = limits_of(session, settings, user), clock.now()
    return QuotaUse(
        waiting=Quota(used=submissions.waiting(session, user), limit=limits.waiting),
        hourly=Quota(used=usage.count(session, user, now - HOUR), limit=limits.hourly),
        gpu_seconds=Quota(
            used=round(usage.gpu_seconds(session, user, now - DAY), 3), limit=limits.gpu_seconds
        ),
    )


def _check_waiting(session: Session, user: str, limit: int) -> None:
    if submissions.waiting(session, user) >= limit:
        raise TooManyRequests(
            f"{user} has {limit} unfinished submissions",
            "Wait until some of them are finished, or cancel some.",
            retry_after=_SOON_SECONDS,
        )


def _check_hourly(session: Session, user: str, limit: int) -> None:
    since = clock.now() - HOUR
    if usage.count(session, user, since) < limit:
        return
    wait = _seconds(usage.oldest(session, user, since) - since)
    raise TooManyRequests(
        f"{user} has made {limit} submissions within an hour",
        f"Submit again in {_spoken(wait)}.",
        retry_after=wait,
    )


def _check_gpu(session: Session, user: str, limit: int, wanted: float) -> None:
    since = clock.now() - DAY
    if usage.gpu_seconds(session, user, since) + wanted <= limit:
        return
    wait = _seconds(usage.oldest(session, user, since, costly=True) - since)
    next_step = f"Submit again in {_spoken(wait)}."
    if submissions.waiting(session, user):
        wait = min(wait, _SOON_SECONDS)
        next_step = "Wait until your unfinished submissions give back what they do not use."
    raise TooManyRequests(
        f"{user} has less than {wanted:g} of {limit} GPU seconds left for this day",
        next_step,
        retry_after=wait,
    )


def _first(own: int | None, usual: int) -> int:
    return usual if own is None else own


def _seconds(time: timedelta) -> int:
    return max(1, math.ceil(time.total_seconds()))


def _spoken(seconds: int) -> str:
    return f"{math.ceil(seconds / 60)} min" if seconds > 60 else f"{seconds} s"
