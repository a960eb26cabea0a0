"""What a submission for a contest has to meet; called by the service as it takes one in."""

import math
from datetime import timedelta

from sqlalchemy.orm import Session

from app import clock
from app.errors import Forbidden, Invalid, NotFound, TooManyRequests
from app.schemas import SubmitRequest
from app.store import Store, contests
from app.store.contest_tables import ContestRow, EntrantRow

HOUR = timedelta(hours=1)


def fitted(store: Store, request: SubmitRequest) -> SubmitRequest:
    """The request with its contest's device; NotFound, or Invalid where they do not fit."""
    if request.contest is None:
        return request
    with store.read() as session:
        contest = row_of(session, request.contest)
    if request.task not in contest.tasks.split():
        raise Invalid(
            f"task {request.task} is not of contest {contest.name}",
            f"Choose one of: {', '.join(contest.tasks.split())}.",
        )
    if request.device not in (None, contest.device):
        raise Invalid(
            f"contest {contest.name} is about an {contest.device.value}", "Leave the device out."
        )
    return request.model_copy(update={"device": contest.device})


def admit(session: Session, contest: str, user: str, submission: str) -> None:
    """Enter a submission; Forbidden, TooManyRequests.

    Nobody else submits for the same entrant, and nobody closes the contest, until the transaction
    ends.
    """
    contests.hold(session, contest)
    row = row_of(session, contest)
    entrant = contests.entrant_of(session, contest, user, lock=True)
    if entrant is None:
        raise Forbidden(f"{user} does not take part in {contest}", "Join on the contest's page.")
    if entrant.disqualified:
        raise Forbidden(
            f"{entrant.name} is disqualified: {entrant.disqualified}",
            "Ask the hosts on the contest's page.",
        )
    _check_window(row)
    _check_quota(session, row, entrant)
    contests.enter(session, submission, entrant)


def row_of(session: Session, contest: str, *, lock: bool = False) -> ContestRow:
    """A contest; NotFound."""
    known = len(contest) <= 64 and contest.isascii() and contest.replace("-", "a").isalnum()
    row = contests.by_name(session, contest, lock=lock) if known else None
    if row is None:
        raise NotFound(f"there is no contest {contest[:64]!r}", "Look it up among the contests.")
    return row


def _check_window(contest: ContestRow) -> None:
    now = clock.now()
    if now < contest.starts_at:
        raise Forbidden(
            f"contest {contest.name} has not begun",
            f"Submit again from {contest.starts_at.isoformat()} on, or without a contest.",
        )
    if now >= contest.ends_at:
        raise Forbidden(f"contest {contest.name} is over", "Submit without a contest.")


def _check_quota(session: Session, contest: ContestRow, entrant: EntrantRow) -> None:
    if contest.hourly_limit is None:
        return
    since = clock.now() - HOUR
    made = contests.entries_since(session, entrant, since)
    if len(made) < contest.hourly_limit:
        return
    wait = max(1, math.ceil((made[-contest.hourly_limit] - since).total_seconds()))
    raise TooManyRequests(
        f"{entrant.name} has made {contest.hourly_limit} submissions for {contest.name} within "
        "an hour",
        f"Submit again in {math.ceil(wait / 60)} min.",
        retry_after=wait,
    )
