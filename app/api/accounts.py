"""The routes about accounts: oneself and one's tokens; for admins all accounts and invitations."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from app.access import api_service
from app.accounts import administration, tokens
from app.accounts.schemas import (
    Account,
    AccountChange,
    InvitePage,
    InviteRequest,
    Me,
    NewInvite,
    Number,
    Token,
)
from app.api.problems import problems
from app.audit import ActFilter, ActPage, list_acts
from app.errors import NotFound
from app.schemas import Cursor
from app.service import Service

router = APIRouter(prefix="/api/v1", responses=problems(401, 403, 404, 422, 503))


def _service(service: Annotated[Service, Depends(api_service)]) -> Service:
    if not service.settings.has_accounts:
        raise NotFound(
            "this installation has no accounts", "The operator can set KERNELJUDGE_ACCOUNTS."
        )
    return service


WithAccounts = Annotated[Service, Depends(_service)]


@router.get("/me")
def read_me(service: Annotated[Service, Depends(api_service)]) -> Me:
    """Who you are, what this token may do, and what is used of your quotas."""
    return service.me()


@router.get("/tokens")
def list_tokens(service: WithAccounts) -> tuple[Token, ...]:
    """Your tokens, the newest first, without their secrets; your page makes new ones."""
    return tokens.list_tokens(service.store, service.caller)


@router.delete("/tokens/{token}", status_code=204, response_class=Response)
def revoke_token(service: WithAccounts, token: Number) -> None:
    """End one of your tokens, now and for good; also the one that this request carries."""
    tokens.revoke_token(service.store, service.caller, token)


@router.get("/users")
def list_users(
    service: WithAccounts,
    after: Annotated[str, Query(max_length=64)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> tuple[Account, ...]:
    """Accounts by name, for admins; `after` a name goes on from there."""
    return administration.list_accounts(service.store, service.caller, after, limit)


@router.patch("/users/{name}", responses=problems(400, 409))
def change_user(service: WithAccounts, name: str, change: AccountChange) -> Account:
    """Change an account's role, state or limits, for admins."""
    return administration.change_account(service.store, service.caller, name, change)


@router.delete("/users/{name}/tokens", status_code=204, response_class=Response)
def revoke_tokens(service: WithAccounts, name: str) -> None:
    """End all tokens of an account, for admins: when one may have leaked."""
    administration.revoke_tokens(service.store, service.caller, name)


@router.get("/audit")
def read_audit(
    service: WithAccounts,
    wanted: Annotated[ActFilter, Depends()],
    cursor: Cursor | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ActPage:
    """What admins did, newest first, for admins; `next_cursor` continues the list."""
    return list_acts(service.store, service.caller, wanted, cursor, limit)


@router.get("/invites")
def list_invites(
    service: WithAccounts,
    cursor: Cursor | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> InvitePage:
    """Invitations, newest first, for admins; `next_cursor` continues the list."""
    return administration.list_invites(service.store, service.caller, cursor, limit)


@router.post("/invites", status_code=201, responses=problems(400))
def create_invite(service: WithAccounts, wanted: InviteRequest) -> NewInvite:
    """Invite, for admins; the secret is shown this once."""
    return administration.create_invite(service.store, service.caller, wanted)


@router.delete("/invites/{invite}", status_code=204, response_class=Response)
def revoke_invite(service: WithAccounts, invite: Number) -> None:
    """Let an invitation make no more accounts, for admins."""
    administration.revoke_invite(service.store, service.caller, invite)
