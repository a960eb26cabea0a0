"""The tables of accounts. Secrets are stored as digests alone, so that a stolen copy opens nothing.

Accounts are never deleted: a name on a board must not pass to somebody else.
"""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.roles import Role
from app.store.tables import SERIAL, Base, Word

_DIGEST = String(64)


class UserRow(Base):
    """One account; limits that are None are the installation's."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    password: Mapped[str] = mapped_column(String(200))
    """argon2id, with its parameters and salt; empty for one that signs in elsewhere alone."""
    role: Mapped[Role] = mapped_column(Word(Role, 16))
    disabled: Mapped[bool]
    created_at: Mapped[datetime]
    invite: Mapped[int | None] = mapped_column(SERIAL, ForeignKey("invites.id"))
    """By which it was made."""
    waiting_limit: Mapped[int | None]
    hourly_limit: Mapped[int | None]
    gpu_seconds_limit: Mapped[int | None]


class IdentityRow(Base):
    """Who an account is to an OpenID Connect provider; one of each at most."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("user", "issuer", name="identities_once"),)

    issuer: Mapped[str] = mapped_column(String(500), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    """What the provider calls somebody, for ever."""
    user: Mapped[str] = mapped_column(String(64), ForeignKey("users.name"))
    email: Mapped[str] = mapped_column(String(320))
    """As the provider said when it was linked; for the account's owner to recognise."""
    linked_at: Mapped[datetime]


class SessionRow(Base):
    """One browser that is signed in."""

    __tablename__ = "sessions"
    __table_args__ = (Index("sessions_by_user", "user"), Index("sessions_by_end", "expires_at"))

    digest: Mapped[str] = mapped_column(_DIGEST, primary_key=True)
    user: Mapped[str] = mapped_column(String(64), ForeignKey("users.name"))
    expires_at: Mapped[datetime]


class TokenRow(Base):
    """One API token."""

    __tablename__ = "tokens"
    __table_args__ = (Index("tokens_by_user", "user"),)

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    digest: Mapped[str] = mapped_column(_DIGEST, unique=True)
    user: Mapped[str] = mapped_column(String(64), ForeignKey("users.name"))
    name: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[str] = mapped_column(String(64))
    """Separated by spaces."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    """To the minute."""
    revoked_at: Mapped[datetime | None]


class InviteRow(Base):
    """One invitation, good for some accounts."""

    __tablename__ = "invites"

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    digest: Mapped[str] = mapped_column(_DIGEST, unique=True)
    note: Mapped[str] = mapped_column(String(100))
    created_by: Mapped[str] = mapped_column(String(64))
    """Not a reference: whoever runs commands on the machine needs no account."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    uses_left: Mapped[int]


class UsageRow(Base):
    """What one submission costs its user. It refers to no submission: deleting refunds nothing."""

    __tablename__ = "usage"
    __table_args__ = (Index("usage_by_user", "user", "at"),)

    submission: Mapped[str] = mapped_column(String(64), primary_key=True)
    user: Mapped[str] = mapped_column(String(64))
    at: Mapped[datetime]
    gpu_seconds: Mapped[float]
    """The most it may take until it is finished, then what it took."""


class TriesRow(Base):
    """How often something was tried since a moment."""

    __tablename__ = "tries"
    __table_args__ = (Index("tries_by_start", "since"),)

    key: Mapped[str] = mapped_column(_DIGEST, primary_key=True)
    count: Mapped[int]
    since: Mapped[datetime]
