"""Who sends a request: whose token it carries, or whose browser it comes from."""

from typing import cast

from anyio.to_thread import run_sync
from fastapi.security.utils import get_authorization_scheme_param
from starlette.requests import Request

from app.accounts import Caller
from app.accounts.callers import sign_in_first
from app.accounts.credentials import form_token
from app.errors import Unauthorised
from app.roles import Scope
from app.service import Service

SAFE = ("GET", "HEAD", "OPTIONS")


def service_of(request: Request) -> Service:
    """The service that `create_app` made for this process, for nobody in particular."""
    return cast(Service, request.app.state.service)


async def api_service(request: Request) -> Service:
    """On behalf of whoever asks the API, once it is known that they may.

    Unauthorised, Forbidden. A browser that is signed in may read; to change anything takes a
    token, which no page of another site can make it send.
    """
    service = await api_service_for_all(request)
    service.caller.require(Scope.READ if request.method in SAFE else Scope.SUBMIT)
    return service


async def api_service_for_all(request: Request) -> Service:
    """The same where everybody may ask; Unauthorised for a bad token only."""
    service = service_of(request)
    if not service.settings.has_accounts:
        return service.on_behalf_of(service.accounts.nobody)
    return service.on_behalf_of(await run_sync(_api_caller, request, service))


def page_service(request: Request) -> Service:
    """On behalf of whoever's browser it is; blocks on the database the first time."""
    known = getattr(request.state, "service", None)
    if known is None:
        service = service_of(request)
        known = service.on_behalf_of(_page_caller(request, service))
        request.state.service = known
    return cast(Service, known)


def cookie(request: Request, kind: str) -> str:
    """Name of a cookie; over TLS no other host and no page without TLS can set it."""
    return f"__Host-kj-{kind}" if request.url.scheme == "https" else f"kj-{kind}"


def _api_caller(request: Request, service: Service) -> Caller:
    header = request.headers.get("authorization")
    if header:
        scheme, secret = get_authorization_scheme_param(header)
        if scheme.lower() != "bearer" or not secret:
            raise Unauthorised(
                "the Authorization header has no token", "Send Authorization: Bearer kj_…"
            )
        return service.accounts.of_token(secret)
    if request.method in SAFE:
        return service.accounts.of_browser(request.cookies.get(cookie(request, "session")))
    caller = service.accounts.nobody
    if caller.user is None:
        raise sign_in_first()
    return caller


def _page_caller(request: Request, service: Service) -> Caller:
    caller = service.accounts.of_browser(request.cookies.get(cookie(request, "session")))
    if caller.user is not None:
        return caller
    # Signing in takes a secret as well, or another site could sign somebody in as somebody else.
    secret = request.cookies.get(cookie(request, "form"), "")
    return Caller(None, caller.scopes, form_token=form_token(secret) if secret else "")
