"""Browsers that are signed in."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import clock
from app.store.account_tables import SessionRow, UserRow


def insert(session: Session, digest: str, user: str, expires_at: datetime) -> None:
    """Sign a browser in, and clear away what has expired."""
    session.execute(delete(SessionRow).where(SessionRow.expires_at < clock.now()))
    session.add(SessionRow(digest=digest, user=user, expires_at=expires_at))


def holder(session: Session, digest: str) -> UserRow | None:
    """Whose browser it is; None if it is signed in no more, or the account is disabled."""
    query = (
        select(UserRow)
        .join(SessionRow, SessionRow.user == UserRow.name)
        .where(SessionRow.digest == digest, SessionRow.expires_at > clock.now())
        .where(UserRow.disabled.is_(False))
    )
    return session.scalar(query)


def end(session: Session, digest: str) -> None:
    """Sign one browser out."""
    session.execute(delete(SessionRow).where(SessionRow.digest == digest))


def end_all(session: Session, user: str) -> None:
    """Sign all browsers of an account out."""
    session.execute(delete(SessionRow).where(SessionRow.user == user))
