"""Who asks, and what they may do."""

from dataclasses import dataclass

from app.errors import Forbidden, ServiceError, Unauthorised
from app.roles import Role, Scope

LOCAL_USER = "local"
"""The one user of an installation without accounts."""

_OF_ROLE = {
    Role.PARTICIPANT: frozenset((Scope.READ, Scope.SUBMIT)),
    Role.ADMIN: frozenset(Scope),
}


@dataclass(frozen=True)
class Caller:
    """Whoever sends a request."""

    user: str | None
    """None for somebody who is not signed in."""
    scopes: frozenset[Scope] = frozenset()
    session: str | None = None
    """Digest of the session of a browser."""
    form_token: str | None = None
    """What its forms must send along; None where forms need nothing."""

    @property
    def is_admin(self) -> bool:
        """Whether it may do what only admins may."""
        return Scope.ADMIN in self.scopes

    @property
    def name(self) -> str:
        """Its account; Unauthorised without one."""
        if self.user is None:
            raise sign_in_first()
        return self.user

    def require(self, scope: Scope) -> None:
        """Unauthorised for nobody, Forbidden for somebody who may not."""
        if scope in self.scopes:
            return
        raise sign_in_first() if self.user is None else _not_allowed(scope)


LOCAL = Caller(LOCAL_USER, frozenset(Scope))
"""Everybody, in an installation without accounts."""

OPERATOR = Caller("command line", frozenset(Scope))
"""Whoever works on the machine itself."""

NOBODY = Caller(None)
VISITOR = Caller(None, frozenset((Scope.READ,)))
"""Nobody, in an installation that shows everybody what others did."""


def scopes_of(role: Role) -> frozenset[Scope]:
    """All that an account of that role may do."""
    return _OF_ROLE[role]


def sign_in_first() -> Unauthorised:
    """The error for nobody."""
    return Unauthorised(
        "this needs an account",
        "Sign in, or send a token of yours: Authorization: Bearer kj_…",
    )


def _not_allowed(scope: Scope) -> ServiceError:
    if scope is Scope.ADMIN:
        return Forbidden("this is for admins", "Ask an admin, or use a token with scope admin.")
    return Forbidden(
        f"the token does not have the scope {scope}", "Make one that has it, on your page."
    )
