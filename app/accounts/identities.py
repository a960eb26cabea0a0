"""Signing in and up by an OpenID Connect provider, and linking an account to it."""

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.accounts import Accounts, SignedIn, check_name
from app.accounts.callers import Caller
from app.accounts.provider import Way
from app.accounts.schemas import LinkedIdentity
from app.accounts.throttle import PROVIDER_FROM, network
from app.errors import Conflict, Forbidden
from app.settings import Settings
from app.store import Store, identities, users
from app.store.identities import Identity


class NoAccount(Forbidden):
    """The provider knows somebody, but nobody here is linked to them."""


def admit(accounts: Accounts, address: str | None) -> None:
    """Count somebody on the way to the provider or back from it; TooManyRequests."""
    accounts.throttle.count((PROVIDER_FROM, network(address)))


def sign_in(accounts: Accounts, way: Way, code: str) -> SignedIn:
    """Start a session; NoAccount, Forbidden (disabled), and what `Provider` raises."""
    identity = accounts.provider.identity(way, code)
    with accounts.store.read() as session:
        row = identities.holder(session, identity)
    if row is None:
        raise _unknown(accounts.settings, identity)
    if row.disabled:
        raise Forbidden(f"account {row.name} is disabled", "Ask an admin.")
    return accounts.start(row)


def sign_up(
    accounts: Accounts, way: Way, code: str, name: str, invite: str, address: str | None
) -> SignedIn:
    """Make an account without a password; Forbidden, Invalid, Conflict, TooManyRequests."""
    identity = accounts.provider.identity(way, code)
    with accounts.store.read() as session:
        row = identities.holder(session, identity)
    if row is not None:
        raise Conflict(f"you have the account {row.name} already", "Sign in.")
    accounts.admit(invite, address)
    check_name(name)
    return accounts.start(accounts.insert(name, "", invite, identity))


def link(accounts: Accounts, caller: Caller, way: Way, code: str) -> None:
    """Let the caller sign in this way as well; Conflict where one of them is linked."""
    identity = accounts.provider.identity(way, code)
    try:
        with accounts.store.write() as session:
            identities.insert(session, identity, caller.name)
    except IntegrityError:
        raise Conflict(
            f"{identity.email or 'that person'} is linked to an account already, or yours is",
            "Unlink the one before, on the page of its account.",
        ) from None


def unlink(store: Store, caller: Caller) -> None:
    """Let the caller sign in by password alone; Conflict if there is none."""
    with store.write() as session:
        row = users.lock(session, caller.name)
        if row is None or not row.password:
            raise Conflict(
                "you have no password, and could not sign in any more",
                "Ask an admin to set one first.",
            )
        for linked in identities.of_user(session, row.name):
            session.delete(linked)


def linked_to(session: Session, user: str) -> tuple[LinkedIdentity, ...]:
    """What an account is linked to, by provider."""
    rows = identities.of_user(session, user)
    return tuple(
        LinkedIdentity(issuer=row.issuer, email=row.email, linked_at=row.linked_at) for row in rows
    )


def _unknown(settings: Settings, identity: Identity) -> NoAccount:
    who = identity.email or "whoever you are"
    told = f"{who} at {settings.oidc_name} has no account here"
    if settings.accounts == "closed":
        return NoAccount(told, "Ask an admin for one, sign in to it, and link it on your page.")
    return NoAccount(
        told, "Sign up. If you have an account: sign in to it, and link it on your page."
    )
