"""Accounts and invitations, for admins."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.accounts import administration
from app.accounts.schemas import AccountChange, InviteRequest, Number
from app.audit import ActFilter, kinds, list_acts
from app.errors import Conflict, Invalid, ServiceError
from app.pages.access import with_accounts
from app.pages.queries import parsed, parsed_cursor
from app.pages.rendering import render
from app.roles import Role, Scope
from app.service import Service

router = APIRouter(prefix="/admin")
_SHOWN = 200
_ACTS_SHOWN = 50
_FILTERS = {"user": "Who", "act": "What", "about": "To what"}
_LIMITS = {
    "waiting_limit": "Unfinished submissions",
    "hourly_limit": "Submissions within an hour",
    "gpu_seconds_limit": "GPU seconds within a day",
}


def _admins(service: Annotated[Service, Depends(with_accounts)]) -> Service:
    service.caller.require(Scope.ADMIN)
    return service


AdminService = Annotated[Service, Depends(_admins)]
Text = Annotated[str, Form(max_length=200)]


@router.get("")
def show_admin(
    request: Request, service: AdminService, after: str = "", cursor: str | None = None
) -> Response:
    """Accounts by name, and the latest invitations."""
    return _admin(request, service, after=after, cursor=parsed_cursor(cursor))


@router.post("/invites")
def create_invite(
    request: Request, service: AdminService, note: Text = "", uses: Text = "1", days: Text = "14"
) -> Response:
    """Invite; the secret is on this page and never again."""
    try:
        fields = {"note": note, "uses": uses, "days": days}
        wanted = parsed(InviteRequest, fields, {"note": "For", "uses": "Accounts"})
    except Invalid as problem:
        return _admin(request, service, problem=problem)
    invite = administration.create_invite(service.store, service.caller, wanted)
    address = f"{request.url.scheme}://{request.url.netloc}{invite.path}"
    return _admin(request, service, address=address)


@router.post("/invites/{invite}/revoke")
def revoke_invite(service: AdminService, invite: Number) -> Response:
    """Let an invitation make no more accounts."""
    administration.revoke_invite(service.store, service.caller, invite)
    return RedirectResponse("/admin#invites", 303)


@router.get("/audit")
def show_audit(
    request: Request,
    service: AdminService,
    user: str = "",
    act: str = "",
    contest: str = "",
    about: str = "",
    cursor: str = "",
) -> Response:
    """What admins did, newest first; the address holds the filters."""
    fields = {"user": user, "act": act, "contest": contest, "about": about}
    wanted = parsed(ActFilter, {name: value for name, value in fields.items() if value}, _FILTERS)
    before = parsed_cursor(cursor)
    return render(
        request,
        "admin_audit.html",
        page=list_acts(service.store, service.caller, wanted, before, _ACTS_SHOWN),
        wanted=wanted,
        kinds=kinds(service.store, service.caller),
    )


@router.post("/users/{name}/tokens")
def revoke_tokens(service: AdminService, name: str) -> Response:
    """End all tokens of an account."""
    administration.revoke_tokens(service.store, service.caller, name)
    return RedirectResponse(f"/admin/users/{name}", 303)


@router.get("/users/{name}")
def show_account(request: Request, service: AdminService, name: str) -> Response:
    """One account and what it has used."""
    return _account(request, service, name)


@router.post("/users/{name}")
def change_account(
    request: Request,
    service: AdminService,
    name: str,
    role: Text = "",
    disabled: Text = "",
    waiting_limit: Text = "",
    hourly_limit: Text = "",
    gpu_seconds_limit: Text = "",
) -> Response:
    """Change an account; an empty limit is the installation's."""
    fields: dict[str, Any] = {
        "waiting_limit": waiting_limit or None,
        "hourly_limit": hourly_limit or None,
        "gpu_seconds_limit": gpu_seconds_limit or None,
    }
    if name != service.caller.user:
        fields |= {"role": role, "disabled": disabled == "on"}
    try:
        change = parsed(AccountChange, fields, _LIMITS)
        administration.change_account(service.store, service.caller, name, change)
    except (Invalid, Conflict) as problem:
        return _account(request, service, name, problem)
    return RedirectResponse(f"/admin/users/{name}", 303)


def _admin(
    request: Request,
    service: Service,
    *,
    after: str = "",
    cursor: str | None = None,
    address: str = "",
    problem: ServiceError | None = None,
) -> Response:
    store, caller = service.store, service.caller
    accounts = administration.list_accounts(store, caller, after[:64], _SHOWN)
    return render(
        request,
        "admin.html",
        status=problem.status if problem else 200,
        headers={"Cache-Control": "no-store"} if address else None,
        accounts=accounts,
        more=accounts[-1].name if len(accounts) == _SHOWN else "",
        invites=administration.list_invites(store, caller, cursor, _SHOWN),
        address=address,
        problem=problem.problem if problem else None,
    )


def _account(
    request: Request, service: Service, name: str, problem: ServiceError | None = None
) -> Response:
    return render(
        request,
        "admin_account.html",
        status=problem.status if problem else 200,
        account=administration.read_account(service.store, service.caller, name),
        quotas=service.quotas_of(name),
        settings=service.settings,
        roles=tuple(Role),
        problem=problem.problem if problem else None,
    )
