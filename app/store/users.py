"""Accounts in the database."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.roles import Role
from app.store.account_tables import UserRow


def by_name(session: Session, name: str) -> UserRow | None:
    """The account of that name."""
    return session.get(UserRow, name)


def lock(session: Session, name: str) -> UserRow | None:
    """The account, which nobody else changes until the transaction ends."""
    return session.get(UserRow, name, with_for_update=True, populate_existing=True)


def insert(
    session: Session, name: str, password: str, role: Role, invite: int | None = None
) -> UserRow:
    """A new account; `password` is its hash. IntegrityError if the name is taken."""
    row = UserRow(
        name=name,
        password=password,
        role=role,
        disabled=False,
        created_at=clock.now(),
        invite=invite,
        waiting_limit=None,
        hourly_limit=None,
        gpu_seconds_limit=None,
    )
    session.add(row)
    session.flush()
    return row


def page(session: Session, after: str, limit: int) -> Sequence[UserRow]:
    """At most `limit` accounts whose name follows `after`, by name."""
    query = select(UserRow).where(UserRow.name > after).order_by(UserRow.name).limit(limit)
    return session.scalars(query).all()
