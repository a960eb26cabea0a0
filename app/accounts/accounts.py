"""Signing up, in and out, and who it is that sends a request."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from sqlalchemy.exc import IntegrityError

from app import clock
from app.accounts import passwords
from app.accounts.callers import LOCAL, LOCAL_USER, NOBODY, VISITOR, Caller, scopes_of
from app.accounts.credentials import digest, form_token, new_secret
from app.accounts.provider import Provider
from app.accounts.throttle import (
    GUESSES,
    GUESSES_BY_ALL,
    GUESSES_FROM,
    SIGN_UPS_FROM,
    Throttle,
    network,
)
from app.errors import Conflict, Forbidden, Invalid, Unauthorised
from app.roles import Role, Scope
from app.settings import Settings
from app.store import Store, audit, identities, invites, sessions, tokens, users
from app.store.account_tables import UserRow
from app.store.identities import Identity
from app.store.tokens import Holder

SESSION = timedelta(days=7)
_NAME = re.compile(r"[a-z][a-z0-9_-]{1,31}")
_RESERVED = (LOCAL_USER, "admin", "anonymous", "root", "kerneljudge")


@dataclass(frozen=True)
class SignedIn:
    """A new session."""

    user: str
    secret: str
    """For the browser's cookie, and nowhere else."""
    expires_at: datetime


@dataclass(frozen=True)
class Accounts:
    """Knows everybody; one per process, safe to share between threads."""

    settings: Settings
    store: Store
    throttle: Throttle

    @cached_property
    def provider(self) -> Provider:
        """Who vouches for people beside us; of use only where the settings name one."""
        return Provider(self.settings)

    @property
    def nobody(self) -> Caller:
        """Somebody who is not signed in."""
        if not self.settings.has_accounts:
            return LOCAL
        return VISITOR if self.settings.public_read else NOBODY

    def of_browser(self, secret: str | None) -> Caller:
        """Whose browser sends this cookie; nobody's if it is not signed in."""
        if secret is None or not self.settings.has_accounts:
            return self.nobody
        session_digest = digest(secret)
        with self.store.read() as session:
            row = sessions.holder(session, session_digest)
        if row is None:
            return self.nobody
        return Caller(row.name, scopes_of(row.role), session_digest, form_token(secret))

    def of_token(self, secret: str) -> Caller:
        """Whose token it is; Unauthorised says why it is good for nothing."""
        with self.store.read() as session:
            found = tokens.by_digest(session, digest(secret))
        problem = _problem_of(found)
        if found is None or problem:
            raise Unauthorised(problem, "Make a new token on your page.")
        if tokens.use_is_stale(found):
            with self.store.write() as session:
                tokens.note_use(session, found.id)
        return Caller(found.user, scopes_of(found.role) & set(map(Scope, found.scopes.split())))

    def sign_in(self, name: str, password: str, address: str | None) -> SignedIn:
        """Start a session; Unauthorised and TooManyRequests do not tell whether the name exists."""
        source = network(address)
        here = f"{name}\0{source}"
        self.throttle.count((GUESSES, here), (GUESSES_BY_ALL, name), (GUESSES_FROM, source))
        with self.store.read() as session:
            row = users.by_name(session, name) if _NAME.fullmatch(name) else None
        known = None if row is None else row.password or None
        if not passwords.matches(password, known) or row is None or row.disabled:
            raise Unauthorised(
                "there is no account with that name and password",
                "Try again; an admin can set a new password.",
            )
        self.throttle.forget(GUESSES, here)
        return self.start(row, password)

    def sign_up(self, name: str, password: str, invite: str, address: str | None) -> SignedIn:
        """Make an account and start its first session.

        Forbidden (by the mode, or the invitation), Invalid, Conflict (name), TooManyRequests.
        """
        self.admit(invite, address)
        check_name(name)
        passwords.check_new(password, name)
        return self.start(self.insert(name, passwords.hashed(password), invite))

    def admit(self, invite: str, address: str | None) -> None:
        """Count somebody who would sign up; Forbidden (mode, invitation), TooManyRequests."""
        mode = self.settings.accounts
        if mode not in ("open", "invite"):
            raise Forbidden("nobody can sign up here", "Ask an admin for an account.")
        self.throttle.count((SIGN_UPS_FROM, network(address)))
        if mode == "invite":
            self._check_invite(invite)

    def insert(
        self, name: str, password: str, invite: str, identity: Identity | None = None
    ) -> UserRow:
        """A new account, which uses the invitation up if it needs one; `password` is its hash.

        Forbidden (invitation), Conflict (name, identity).
        """
        needed = self.settings.accounts == "invite"
        try:
            with self.store.write() as session:
                used = invites.use(session, digest(invite)) if needed else None
                if needed and used is None:
                    raise _bad_invite()
                row = users.insert(session, name, password, Role.PARTICIPANT, used)
                if identity is not None:
                    identities.insert(session, identity, name)
        except IntegrityError:
            raise Conflict("this name is taken", "Choose another one.") from None
        return row

    def sign_out(self, caller: Caller) -> None:
        """End the caller's session."""
        if caller.session is not None:
            with self.store.write() as session:
                sessions.end(session, caller.session)

    def change_password(self, caller: Caller, old: str, new: str, address: str | None) -> SignedIn:
        """Set another password and end all sessions but a new one; tokens stay."""
        name = caller.name
        passwords.check_new(new, name)
        known = self.sign_in(name, old, address)
        set_password(self.store, name, new)
        with self.store.read() as session:
            row = users.by_name(session, known.user)
        assert row is not None  # accounts are never deleted
        return self.start(row)

    def _check_invite(self, invite: str) -> None:
        with self.store.read() as session:
            if not invites.is_open(session, digest(invite)):
                raise _bad_invite()

    def start(self, row: UserRow, password: str | None = None) -> SignedIn:
        """A session with a secret of its own: one that a browser had before is worth nothing."""
        secret, expires_at = new_secret(), clock.now() + SESSION
        stale = password is not None and passwords.is_stale(row.password)
        better = passwords.hashed(password) if password is not None and stale else None
        with self.store.write() as session:
            sessions.insert(session, digest(secret), row.name, expires_at)
            known = users.lock(session, row.name) if better else None
            if known is not None and better and known.password == row.password:
                known.password = better
        return SignedIn(row.name, secret, expires_at)


def check_name(name: str) -> None:
    """Invalid for what cannot be the name of an account."""
    if not _NAME.fullmatch(name):
        raise Invalid(
            "a name has 2 to 32 lower-case letters, digits, - and _, the first a letter",
            "Choose such a name.",
        )
    if name in _RESERVED:
        raise Invalid(f"the name {name} is reserved", "Choose another one.")


def set_password(store: Store, name: str, password: str, *, by: Caller | None = None) -> bool:
    """Set a password and end all sessions; False if there is no such account.

    It is written down as an act of `by`, who is not the owner.
    """
    passwords.check_new(password, name)
    known = passwords.hashed(password)
    with store.write() as session:
        row = users.lock(session, name)
        if row is None:
            return False
        row.password = known
        sessions.end_all(session, name)
        if by is not None:
            audit.note(session, by.name, "set password", {}, about=name)
    return True


def _problem_of(found: Holder | None) -> str:
    if found is None:
        return "this token is not known here"
    if found.disabled:
        return "the account of this token is disabled"
    if found.revoked_at is not None:
        return "this token was revoked"
    return "this token has expired" if found.expires_at <= clock.now() else ""


def _bad_invite() -> Forbidden:
    return Forbidden(
        "this invitation is unknown, used up or expired", "Ask an admin for a new one."
    )
