"""Signing in and up, and one's own page: submissions, tokens, quotas, password."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app import clock
from app.accounts import tokens
from app.accounts.schemas import Number
from app.accounts.tokens import TokenRequest
from app.activity import activity_of
from app.errors import (
    Conflict,
    Forbidden,
    Invalid,
    ServiceError,
    TooManyRequests,
    Unauthorised,
    Unavailable,
)
from app.pages.access import (
    end_cookie,
    form_secret,
    keep_form_secret,
    keep_session,
    path_here,
    with_accounts,
)
from app.pages.charts.calendar import calendar
from app.pages.rendering import render
from app.roles import Scope
from app.schemas import SubmissionFilter
from app.service import Service

entrance = APIRouter()
"""For everybody."""

router = APIRouter()

CORRECTABLE = (Conflict, Forbidden, Invalid, TooManyRequests, Unauthorised, Unavailable)
_SHOWN = 20

WithAccounts = Annotated[Service, Depends(with_accounts)]
Text = Annotated[str, Form(max_length=4096)]


@entrance.get("/sign-in")
def open_sign_in(request: Request, service: WithAccounts, next: str = "/") -> Response:
    """The form; whoever is signed in goes on at once."""
    if service.caller.user is not None:
        return RedirectResponse(path_here(next), 303)
    return entrance_page(request, service, "sign_in.html", next=path_here(next))


@entrance.post("/sign-in")
def sign_in(
    request: Request,
    service: WithAccounts,
    name: Text = "",
    password: Text = "",
    next: Text = "/",
) -> Response:
    """Start a session and go on."""
    target = path_here(next)
    try:
        signed_in = service.accounts.sign_in(name.strip(), password, address_of(request))
    except CORRECTABLE as problem:
        return entrance_page(request, service, "sign_in.html", problem, next=target, name=name)
    return keep_session(request, RedirectResponse(target, 303), signed_in)


@entrance.get("/sign-up")
def open_sign_up(request: Request, service: WithAccounts, invite: str = "") -> Response:
    """The form, or that nobody can sign up."""
    return entrance_page(request, service, "sign_up.html", invite=invite)


@entrance.post("/sign-up")
def sign_up(
    request: Request,
    service: WithAccounts,
    name: Text = "",
    password: Text = "",
    invite: Text = "",
) -> Response:
    """Make an account, which is signed in at once."""
    try:
        signed_in = service.accounts.sign_up(
            name.strip(), password, invite.strip(), address_of(request)
        )
    except CORRECTABLE as problem:
        return entrance_page(request, service, "sign_up.html", problem, invite=invite, name=name)
    return keep_session(request, RedirectResponse("/", 303), signed_in)


@router.post("/sign-out")
def sign_out(request: Request, service: WithAccounts) -> Response:
    """End this session."""
    service.accounts.sign_out(service.caller)
    return end_cookie(request, RedirectResponse("/", 303), "session")


@router.get("/you")
def showyou_page(request: Request, service: WithAccounts) -> Response:
    """Quotas, tokens and the latest submissions."""
    return you_page(request, service)


@router.post("/you/tokens")
def create_token(
    request: Request,
    service: WithAccounts,
    name: Text = "",
    days: Text = "90",
    scopes: Annotated[list[Scope] | None, Form()] = None,
) -> Response:
    """Make a token; its secret is on this page and never again."""
    try:
        wanted = TokenRequest(name, frozenset(scopes or ()), _number(days))
        secret = tokens.create_token(service.store, service.caller, wanted)
    except CORRECTABLE as problem:
        return you_page(request, service, problem)
    return you_page(request, service, secret=secret)


@router.post("/you/tokens/{token}/revoke")
def revoke_token(service: WithAccounts, token: Number) -> Response:
    """End a token."""
    tokens.revoke_token(service.store, service.caller, token)
    return RedirectResponse("/you#tokens", 303)


@router.post("/you/password")
def change_password(
    request: Request, service: WithAccounts, old: Text = "", new: Text = ""
) -> Response:
    """Set another password; all other sessions end."""
    try:
        signed_in = service.accounts.change_password(service.caller, old, new, address_of(request))
    except CORRECTABLE as problem:
        return you_page(request, service, problem)
    return keep_session(request, RedirectResponse("/you", 303), signed_in)


def you_page(
    request: Request, service: Service, problem: ServiceError | None = None, secret: str = ""
) -> Response:
    """The caller's own page, perhaps with what was wrong or with a new token's secret."""
    me, activity = service.me(), activity_of(service)
    return render(
        request,
        "you.html",
        status=problem.status if problem else 200,
        headers=_retry(problem) | ({"Cache-Control": "no-store"} if secret else {}),
        me=me,
        activity=activity,
        calendar=calendar(activity, clock.now().date()),
        provider=provider_name(service),
        page=service.list_submissions(SubmissionFilter(user=me.user), limit=_SHOWN),
        tokens=tokens.list_tokens(service.store, service.caller),
        problem=problem.problem if problem else None,
        secret=secret,
    )


def entrance_page(
    request: Request,
    service: Service,
    template: str,
    problem: ServiceError | None = None,
    **context: object,
) -> Response:
    """The page where one signs in or up, perhaps with what was wrong."""
    secret, token = form_secret(request)
    context = {
        "name": "",
        "next": "/",
        "invite": "",
        "mode": service.settings.accounts,
        "provider": provider_name(service),
        "csrf": token,
        "problem": problem.problem if problem else None,
        **context,
    }
    response = render(
        request,
        template,
        status=problem.status if problem else 200,
        headers=_retry(problem),
        **context,
    )
    return keep_form_secret(request, response, secret)


def _retry(problem: ServiceError | None) -> dict[str, str]:
    wait = problem.retry_after if problem else None
    return {} if wait is None else {"Retry-After": str(wait)}


def provider_name(service: Service) -> str:
    """What one can sign in with beside passwords; empty if there is nothing."""
    return service.settings.oidc_name if service.settings.oidc_issuer else ""


def address_of(request: Request) -> str | None:
    """Where a request comes from."""
    return request.client.host if request.client else None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Invalid("that is not a number", "Give a whole number.")
    return int(text)
