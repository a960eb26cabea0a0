"""Who an account is to an OpenID Connect provider."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import clock
from app.store.account_tables import IdentityRow, UserRow


class Identity(NamedTuple):
    """Somebody, as a provider knows them."""

    issuer: str
    subject: str
    """For ever the same, and nobody else's at this provider."""
    email: str
    """Empty if the provider tells none."""


def holder(session: Session, identity: Identity) -> UserRow | None:
    """The account that is linked to somebody at a provider."""
    query = (
        select(UserRow)
        .join(IdentityRow, IdentityRow.user == UserRow.name)
        .where(IdentityRow.issuer == identity.issuer, IdentityRow.subject == identity.subject)
    )
    return session.scalar(query)


def insert(session: Session, identity: Identity, user: str) -> None:
    """Link them; IntegrityError if that somebody, or the account, is linked already."""
    session.add(IdentityRow(**identity._asdict(), user=user, linked_at=clock.now()))
    session.flush()


def of_user(session: Session, user: str) -> Sequence[IdentityRow]:
    """What an account is linked to, by provider."""
    query = select(IdentityRow).where(IdentityRow.user == user)
    return session.scalars(query.order_by(IdentityRow.issuer)).all()
