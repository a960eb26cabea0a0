"""API tokens in the database."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from app import clock
from app.roles import Role, Scope
from app.store.account_tables import TokenRow, UserRow

_USE_NOTED = timedelta(minutes=1)
_HOLDER = (
    select(
        TokenRow.id,
        TokenRow.scopes,
        TokenRow.expires_at,
        TokenRow.used_at,
        TokenRow.revoked_at,
        UserRow.name,
        UserRow.role,
        UserRow.disabled,
    )
    .join(UserRow)
    .where(TokenRow.digest == bindparam("digest"))
)


def insert(
    session: Session,
    digest: str,
    user: str,
    name: str,
    scopes: frozenset[Scope],
    expires_at: datetime,
) -> TokenRow:
    """A new token."""
    row = TokenRow(
        digest=digest,
        user=user,
        name=name,
        scopes=" ".join(sorted(scopes)),
        created_at=clock.now(),
        expires_at=expires_at,
        used_at=None,
        revoked_at=None,
    )
    session.add(row)
    session.flush()
    return row


class Holder(NamedTuple):
    """A token with what is to be known of its account, good or not."""

    id: int
    scopes: str
    expires_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None
    user: str
    role: Role
    disabled: bool


def by_digest(session: Session, digest: str) -> Holder | None:
    """Whose token it is; single columns, since each request of the API asks."""
    found = session.execute(_HOLDER, {"digest": digest}).first()
    return None if found is None else Holder(*found)


def of_user(session: Session, user: str) -> Sequence[TokenRow]:
    """All tokens of an account, the newest first."""
    query = select(TokenRow).where(TokenRow.user == user).order_by(TokenRow.id.desc())
    return session.scalars(query).all()


def usable(session: Session, user: str) -> int:
    """How many tokens of an account still open something."""
    good = TokenRow.revoked_at.is_(None) & (TokenRow.expires_at > clock.now())
    query = select(func.count()).where(TokenRow.user == user, good)
    return session.scalar(query) or 0


def use_is_stale(row: Holder) -> bool:
    """Whether the note of its last use is more than a minute old."""
    return row.used_at is None or clock.now() - row.used_at > _USE_NOTED


def note_use(session: Session, token: int) -> None:
    """Say that it is used now."""
    session.execute(update(TokenRow).where(TokenRow.id == token).values(used_at=clock.now()))


def revoke(session: Session, user: str, token: int) -> bool:
    """End a token of an account; False if the account has no such token."""
    row = session.get(TokenRow, token)
    if row is None or row.user != user:
        return False
    row.revoked_at = row.revoked_at or clock.now()
    return True


def revoke_all(session: Session, user: str) -> int:
    """End all tokens of an account; how many."""
    mine = (TokenRow.user == user, TokenRow.revoked_at.is_(None))
    query = update(TokenRow).where(*mine).values(revoked_at=clock.now()).returning(TokenRow.id)
    return len(session.scalars(query).all())
