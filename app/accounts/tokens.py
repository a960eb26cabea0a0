"""A user's own API tokens."""

from dataclasses import dataclass
from datetime import timedelta

from app import clock
from app.accounts.callers import Caller
from app.accounts.credentials import digest, new_token
from app.accounts.schemas import Token
from app.errors import Conflict, Forbidden, Invalid, NotFound
from app.roles import Scope
from app.store import Store, tokens
from app.store.account_tables import TokenRow

MOST = 50
"""Tokens of one account that open something."""

LONGEST_DAYS = 365


def list_tokens(store: Store, caller: Caller) -> tuple[Token, ...]:
    """All of the caller's tokens, the newest first."""
    with store.read() as session:
        return tuple(map(_shown, tokens.of_user(session, caller.name)))


@dataclass(frozen=True)
class TokenRequest:
    """A token to be made."""

    name: str
    scopes: frozenset[Scope]
    days: int


def create_token(store: Store, caller: Caller, wanted: TokenRequest) -> str:
    """A new token, whose secret is never shown again; Invalid, Forbidden, Conflict (too many)."""
    name = wanted.name.strip()
    if not (1 <= len(name) <= 64 and name.isprintable()):
        raise Invalid("a token needs a name of 1 to 64 characters", "Say what it is for.")
    if not 1 <= wanted.days <= LONGEST_DAYS:
        raise Invalid(f"a token lasts 1 to {LONGEST_DAYS} days", "Choose such a number.")
    if not wanted.scopes:
        raise Invalid("a token needs a scope", "Choose at least one.")
    if not wanted.scopes <= caller.scopes:
        raise Forbidden("a token cannot do more than its account", "Leave that scope out.")
    secret, user = new_token(), caller.name
    expires_at = clock.now() + timedelta(days=wanted.days)
    with store.write() as session:
        if tokens.usable(session, user) >= MOST:
            raise Conflict(f"{user} has {MOST} tokens already", "Revoke one that is not needed.")
        tokens.insert(session, digest(secret), user, name, wanted.scopes, expires_at)
    return secret


def revoke_token(store: Store, caller: Caller, token: int) -> None:
    """End one of the caller's tokens, now and for good; NotFound."""
    with store.write() as session:
        if not tokens.revoke(session, caller.name, token):
            raise NotFound("you have no such token", "Look it up on your page.")


def _shown(row: TokenRow) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        scopes=tuple(map(Scope, row.scopes.split())),
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        usable=row.revoked_at is None and row.expires_at > clock.now(),
    )
