"""Invitations in the database."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import clock
from app.store.account_tables import InviteRow


def insert(
    session: Session, digest: str, note: str, created_by: str, expires_at: datetime, uses: int
) -> InviteRow:
    """A new invitation."""
    row = InviteRow(
        digest=digest,
        note=note,
        created_by=created_by,
        created_at=clock.now(),
        expires_at=expires_at,
        uses_left=uses,
    )
    session.add(row)
    session.flush()
    return row


def is_open(session: Session, digest: str) -> bool:
    """Whether it would still make an account."""
    good = (InviteRow.uses_left > 0, InviteRow.expires_at > clock.now())
    query = select(InviteRow.id).where(InviteRow.digest == digest, *good)
    return session.scalar(query) is not None


def use(session: Session, digest: str) -> int | None:
    """Use it once and return its id; None if it is used up or expired. Two never share one use."""
    good = (InviteRow.uses_left > 0, InviteRow.expires_at > clock.now())
    query = (
        update(InviteRow)
        .where(InviteRow.digest == digest, *good)
        .values(uses_left=InviteRow.uses_left - 1)
        .returning(InviteRow.id)
    )
    return session.scalar(query)


def revoke(session: Session, invite: int) -> bool:
    """Let it make no more accounts; False if there is none."""
    row = session.get(InviteRow, invite)
    if row is None:
        return False
    row.uses_left = 0
    return True


def page(session: Session, before: int | None, limit: int) -> Sequence[InviteRow]:
    """At most `limit` with a number below `before`, the newest first."""
    query = select(InviteRow).order_by(InviteRow.id.desc()).limit(limit)
    if before is not None:
        query = query.where(InviteRow.id < before)
    return session.scalars(query).all()
