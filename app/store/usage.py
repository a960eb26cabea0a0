"""What submissions cost their users: one line each, kept whatever becomes of the submission."""

from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.orm import Session

from app import clock
from app.store.account_tables import UsageRow


def hold(session: Session, user: str) -> None:
    """Let nobody else admit a submission of this user until the transaction ends.

    SQLite has one writer at a time anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:user, 7250134))"), {"user": user}
        )


def charge(session: Session, submission: str, user: str, gpu_seconds: float) -> None:
    """Note a new submission with the most that it may take."""
    row = UsageRow(submission=submission, user=user, at=clock.now(), gpu_seconds=gpu_seconds)
    session.add(row)


def settle(session: Session, submission: str, gpu_seconds: float) -> None:
    """Put what it took in place of what it might have taken."""
    session.execute(
        update(UsageRow).where(UsageRow.submission == submission).values(gpu_seconds=gpu_seconds)
    )


def count(session: Session, user: str, since: datetime) -> int:
    """Submissions of a user after a moment."""
    mine = (UsageRow.user == user, UsageRow.at > since)
    return session.scalar(select(func.count()).where(*mine)) or 0


def gpu_seconds(session: Session, user: str, since: datetime) -> float:
    """GPU seconds of a user's submissions after a moment, reserved or used."""
    mine = (UsageRow.user == user, UsageRow.at > since)
    return session.scalar(select(func.sum(UsageRow.gpu_seconds)).where(*mine)) or 0.0


def oldest(session: Session, user: str, since: datetime, *, costly: bool = False) -> datetime:
    """When the first of them was, of those with GPU seconds if `costly`; now if there is none."""
    query = select(func.min(UsageRow.at)).where(UsageRow.user == user, UsageRow.at > since)
    if costly:
        query = query.where(UsageRow.gpu_seconds > 0)
    return session.scalar(query) or clock.now()
