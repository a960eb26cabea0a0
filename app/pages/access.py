"""Who may open a page or send its forms; cookies; and the way to the page where one signs in."""

from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.access import SAFE, cookie, page_service
from app.accounts import SignedIn
from app.accounts.accounts import SESSION
from app.accounts.credentials import form_token, new_secret, same
from app.errors import Forbidden, NotFound
from app.pages.security import require_same_origin
from app.roles import Scope
from app.service import Service

CurrentService = Annotated[Service, Depends(page_service)]


def require_reader(request: Request, service: CurrentService) -> None:
    """Unauthorised or Forbidden for whoever may not open the page, or send its form."""
    service.caller.require(Scope.READ if request.method in SAFE else Scope.SUBMIT)


async def require_own_form(request: Request, service: CurrentService) -> None:
    """WrongOrigin or Forbidden unless a page of ours, opened by this browser, sent the form."""
    if request.method in SAFE:
        return
    require_same_origin(request)
    expected = service.caller.form_token
    if expected is None:
        return
    sent = (await request.form()).get("csrf")
    if not expected or not isinstance(sent, str) or not same(sent, expected):
        raise Forbidden(
            "the form does not belong to this session",
            "Open its page again, with cookies allowed, and send it from there.",
        )


def with_accounts(service: CurrentService) -> Service:
    """The service, where there are accounts; NotFound otherwise."""
    if not service.settings.has_accounts:
        raise NotFound(
            "this installation has no accounts", "The operator can set KERNELJUDGE_ACCOUNTS."
        )
    return service


def sign_in_page(request: Request) -> Response:
    """To the page where one signs in, and from there back."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/sign-in?next={quote(wanted, safe='/')}", 303)


def path_here(wanted: str) -> str:
    """The address if it is a path of this service, otherwise the first page."""
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return "/"
    # Browsers take a backslash for a slash and skip control characters: //evil, /\evil, /<tab>/evil
    plain = wanted.isascii() and wanted.isprintable() and "\\" not in wanted
    here = not parts.scheme and not parts.netloc and wanted.startswith("/")
    return wanted if plain and here and not wanted.startswith("//") else "/"


def keep_session(request: Request, response: Response, signed_in: SignedIn) -> Response:
    """Give the browser its session in place of whatever it had."""
    set_cookie(request, response, "session", signed_in.secret, int(SESSION.total_seconds()))
    return end_cookie(request, response, "form")


def form_secret(request: Request) -> tuple[str, str]:
    """Secret and token of the forms of somebody who is not signed in."""
    secret = request.cookies.get(cookie(request, "form")) or new_secret()
    return secret, form_token(secret)


def keep_form_secret(request: Request, response: Response, secret: str) -> Response:
    """Give it to the browser."""
    return set_cookie(request, response, "form", secret, 3600)


def end_cookie(request: Request, response: Response, kind: str) -> Response:
    """Take a cookie away."""
    return set_cookie(request, response, kind, "", 0)


def set_cookie(
    request: Request, response: Response, kind: str, value: str, seconds: int
) -> Response:
    """Let the browser keep something that no script of a page can read."""
    response.set_cookie(
        cookie(request, kind),
        value,
        max_age=seconds,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return response
