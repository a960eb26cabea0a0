"""Payloads about accounts."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from app.roles import Role, Scope
from app.schemas import Schema

Number = Annotated[int, Field(ge=1, le=2**62)]
"""Of a row; no database counts further."""

Limit = Annotated[int, Field(ge=0, le=10**9)]


class Quota(Schema):
    """What is used of one limit."""

    used: float
    limit: int | None
    """None is no limit."""


class QuotaUse(Schema):
    """What a user has used of each limit."""

    waiting: Quota
    """Unfinished submissions."""
    hourly: Quota
    """Submissions within an hour."""
    gpu_seconds: Quota
    """GPU seconds within a day; an unfinished submission holds back the most it may take."""


class LinkedIdentity(Schema):
    """Who an account is to an OpenID Connect provider, by which its owner signs in too."""

    issuer: str
    email: str
    """As the provider said when it was linked; may be empty."""
    linked_at: datetime


class Me(Schema):
    """Whoever asks."""

    user: str
    role: Role
    scopes: tuple[Scope, ...]
    """What this token, or this browser, may do."""
    quotas: QuotaUse
    has_password: bool = True
    """Whether it can sign in by password."""
    identities: tuple[LinkedIdentity, ...] = ()


class Token(Schema):
    """An API token, without its secret."""

    id: int
    name: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    """To the minute; None if it never was."""
    usable: bool
    """Whether it is neither expired nor revoked."""


class Account(Schema):
    """An account, as an admin sees it; limits that are None are the installation's."""

    name: str
    role: Role
    disabled: bool
    created_at: datetime
    waiting_limit: int | None
    hourly_limit: int | None
    gpu_seconds_limit: int | None


class AccountChange(Schema):
    """What an admin changes; what is left out stays, and a limit that is null is the usual one."""

    role: Role | None = None
    disabled: bool | None = None
    waiting_limit: Limit | None = None
    hourly_limit: Limit | None = None
    gpu_seconds_limit: Limit | None = None


class InviteRequest(Schema):
    """An invitation to be made."""

    note: Annotated[str, StringConstraints(pattern=r"^[ -~]{0,100}$")] = ""
    """For whom it is, for the admins."""
    uses: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many accounts it makes."""
    days: Annotated[int, Field(ge=1, le=365)] = 14
    """How long it is good."""


class Invite(Schema):
    """An invitation, without its secret."""

    id: int
    note: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    uses_left: int


class InvitePage(Schema):
    """Part of the list of invitations, newest first."""

    items: tuple[Invite, ...]
    next_cursor: str | None
    """`cursor` of the next page; None on the last."""


class NewInvite(Invite):
    """An invitation with its secret, which is shown once."""

    secret: str
    path: str
    """Of the page that it opens."""
