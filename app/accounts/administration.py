"""What admins do: look after accounts, and invite."""

import logging
from datetime import timedelta

from sqlalchemy.exc import IntegrityError

from app import clock
from app.accounts import passwords
from app.accounts.accounts import check_name
from app.accounts.callers import OPERATOR, Caller
from app.accounts.credentials import digest, new_secret
from app.accounts.schemas import (
    Account,
    AccountChange,
    Invite,
    InvitePage,
    InviteRequest,
    NewInvite,
)
from app.errors import Conflict, NotFound
from app.roles import Role, Scope
from app.store import Store, audit, invites, sessions, tokens, users
from app.store.account_tables import InviteRow, UserRow

_ACCOUNT = tuple(Account.model_fields)
_INVITE = tuple(Invite.model_fields)
_log = logging.getLogger(__name__)


def list_accounts(store: Store, caller: Caller, after: str, limit: int) -> tuple[Account, ...]:
    """Accounts by name, those after a name; Forbidden."""
    caller.require(Scope.ADMIN)
    with store.read() as session:
        return tuple(map(_account, users.page(session, after, limit)))


def read_account(store: Store, caller: Caller, name: str) -> Account:
    """One account; Forbidden, NotFound."""
    caller.require(Scope.ADMIN)
    with store.read() as session:
        row = users.by_name(session, name)
        if row is None:
            raise _no_account(name)
        return _account(row)


def change_account(store: Store, caller: Caller, name: str, change: AccountChange) -> Account:
    """Change role, state or limits of an account; Forbidden, NotFound, Conflict (one's own)."""
    caller.require(Scope.ADMIN)
    changed = {key: getattr(change, key) for key in change.model_fields_set}
    for key in ("role", "disabled"):
        if changed.get(key, "") is None:
            del changed[key]
    if name == caller.user and {"role", "disabled"} & changed.keys():
        raise Conflict("this is your own account", "Let another admin change it.")
    with store.write() as session:
        row = users.lock(session, name)
        if row is None:
            raise _no_account(name)
        for key, value in changed.items():
            setattr(row, key, value)
        if row.disabled:
            sessions.end_all(session, name)
        account = _account(row)
        audit.note(session, caller.name, "change account", changed, about=name)
    _log.info("%s changed account %s: %s", caller.user, name, changed)
    return account


def revoke_tokens(store: Store, caller: Caller, name: str) -> None:
    """End all tokens of an account, now and for good; Forbidden, NotFound."""
    caller.require(Scope.ADMIN)
    with store.write() as session:
        if users.lock(session, name) is None:
            raise _no_account(name)
        ended = tokens.revoke_all(session, name)
        audit.note(session, caller.name, "revoke tokens", {"tokens": ended}, about=name)
    _log.info("%s revoked %d tokens of %s", caller.user, ended, name)


def create_account(
    store: Store, name: str, password: str, role: Role, by: Caller = OPERATOR
) -> None:
    """Make an account without an invitation; Invalid, Conflict."""
    check_name(name)
    passwords.check_new(password, name)
    known = passwords.hashed(password)
    try:
        with store.write() as session:
            users.insert(session, name, known, role)
            audit.note(session, by.name, "make account", {"role": role}, about=name)
    except IntegrityError:
        raise Conflict(f"there is an account {name} already", "Choose another name.") from None


def create_invite(store: Store, caller: Caller, wanted: InviteRequest) -> NewInvite:
    """A new invitation, whose secret is never shown again; Forbidden."""
    caller.require(Scope.ADMIN)
    secret = new_secret()
    expires_at = clock.now() + timedelta(days=wanted.days)
    with store.write() as session:
        row = invites.insert(
            session, digest(secret), wanted.note, caller.name, expires_at, wanted.uses
        )
        invite = _invite(row)
        told = wanted.model_dump()
        audit.note(session, caller.name, "make invitation", told, about=str(invite.id))
    _log.info("%s made invitation %d for %d accounts", caller.user, invite.id, wanted.uses)
    return NewInvite(**dict(invite), secret=secret, path=f"/sign-up?invite={secret}")


def list_invites(store: Store, caller: Caller, cursor: str | None, limit: int) -> InvitePage:
    """Invitations, the newest first; Forbidden."""
    caller.require(Scope.ADMIN)
    before = None if cursor is None else int(cursor)
    with store.read() as session:
        rows = invites.page(session, before, limit + 1)
        shown = tuple(map(_invite, rows[:limit]))
    return InvitePage(items=shown, next_cursor=str(shown[-1].id) if len(rows) > limit else None)


def revoke_invite(store: Store, caller: Caller, invite: int) -> None:
    """Let an invitation make no more accounts; Forbidden, NotFound."""
    caller.require(Scope.ADMIN)
    with store.write() as session:
        if not invites.revoke(session, invite):
            raise NotFound("there is no such invitation", "Look it up among the invitations.")
        audit.note(session, caller.name, "revoke invitation", {}, about=str(invite))
    _log.info("%s revoked invitation %d", caller.user, invite)


def _no_account(name: str) -> NotFound:
    return NotFound(f"there is no account {name[:64]!r}", "Look it up among the accounts.")


def _account(row: UserRow) -> Account:
    return Account(**{name: getattr(row, name) for name in _ACCOUNT})


def _invite(row: InviteRow) -> Invite:
    return Invite(**{name: getattr(row, name) for name in _INVITE})
