"""The way to an OpenID Connect provider and back: to sign in, to sign up, or to link an account."""

import base64
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.access import cookie
from app.accounts import SignedIn, identities
from app.accounts.accounts import check_name
from app.accounts.credentials import new_secret, same
from app.accounts.provider import Way
from app.errors import Forbidden, NotFound, ServiceError
from app.pages.access import end_cookie, keep_session, path_here, set_cookie, with_accounts
from app.pages.accounts import CORRECTABLE, address_of, entrance_page, you_page
from app.pages.rendering import render
from app.service import Service

entrance = APIRouter()
"""For everybody."""

router = APIRouter()

_BACK = "/sign-in/provider"
_MOST_SECONDS = 600
"""Between leaving and coming back."""

Text = Annotated[str, Form(max_length=500)]
Word = Annotated[str, Query(max_length=4096)]


def _with_provider(service: Annotated[Service, Depends(with_accounts)]) -> Service:
    if not service.settings.oidc_issuer:
        raise NotFound(
            "this installation has no provider to sign in with",
            "Sign in with a password; the operator can set KERNELJUDGE_OIDC_ISSUER.",
        )
    return service


WithProvider = Annotated[Service, Depends(_with_provider)]


class Journey(BaseModel):
    """What a browser remembers while it is away, in a cookie: its own wishes, and its secret."""

    model_config = ConfigDict(frozen=True)

    secret: str
    wish: Literal["sign-in", "sign-up", "link"]
    next: Annotated[str, AfterValidator(path_here)] = "/"
    name: str = ""
    invite: str = ""

    def way(self, request: Request) -> Way:
        """To the provider and back to where the browser is now."""
        return Way(self.secret, f"{request.url.scheme}://{request.url.netloc}{_BACK}")


@entrance.post(_BACK)
def leave(
    request: Request,
    service: WithProvider,
    wish: Annotated[Literal["sign-in", "sign-up", "link"], Form()] = "sign-in",
    next: Text = "/",
    name: Text = "",
    invite: Text = "",
) -> Response:
    """To the provider, by a page of ours: forms lead nowhere else."""
    journey = Journey(
        secret=new_secret(),
        wish=wish,
        next=next,
        name=name.strip(),
        invite=invite.strip(),
    )
    try:
        if wish == "sign-up":
            check_name(journey.name)
        identities.admit(service.accounts, address_of(request))
        address = service.accounts.provider.address(journey.way(request))
    except CORRECTABLE as problem:
        return _refused(request, service, journey, problem)
    response = render(request, "leaving.html", address=address, provider=service.settings.oidc_name)
    packed = base64.urlsafe_b64encode(journey.model_dump_json().encode()).decode()
    return set_cookie(request, response, "journey", packed, _MOST_SECONDS)


@entrance.get(_BACK)
def come_back(
    request: Request, service: WithProvider, code: Word = "", state: Word = "", error: Word = ""
) -> Response:
    """From the provider: do what the browser left for."""
    journey = _journey(request)
    if journey is None or not same(state, journey.way(request).derived("state")):
        raise Forbidden(
            "this browser did not leave to sign in, or it was away for too long",
            "Open the page to sign in, with cookies allowed, and begin again.",
        )
    try:
        if error or not code:
            raise Forbidden(
                f"{service.settings.oidc_name} did not sign you in ({error or 'no code'})",
                "Sign in again, and allow it there; or ask the operator.",
            )
        identities.admit(service.accounts, address_of(request))
        response = _arrived(request, service, journey, code)
    except CORRECTABLE as problem:
        response = _refused(request, service, journey, problem)
    return end_cookie(request, response, "journey")


@router.post("/you/unlink")
def unlink(request: Request, service: WithProvider) -> Response:
    """Sign in by password alone from now on."""
    try:
        identities.unlink(service.store, service.caller)
    except CORRECTABLE as problem:
        return you_page(request, service, problem)
    return RedirectResponse("/you#sign-in", 303)


def _arrived(request: Request, service: Service, journey: Journey, code: str) -> Response:
    accounts, way = service.accounts, journey.way(request)
    if journey.wish == "link":
        identities.link(accounts, service.caller, way, code)
        return RedirectResponse("/you#sign-in", 303)
    signed_in: SignedIn
    if journey.wish == "sign-up":
        signed_in = identities.sign_up(
            accounts, way, code, journey.name, journey.invite, address_of(request)
        )
    else:
        signed_in = identities.sign_in(accounts, way, code)
    return keep_session(request, RedirectResponse(journey.next, 303), signed_in)


def _refused(
    request: Request, service: Service, journey: Journey, problem: ServiceError
) -> Response:
    """The page that the browser set out from, or the one that helps."""
    if journey.wish == "link" and service.caller.user is not None:
        return you_page(request, service, problem)
    new = isinstance(problem, identities.NoAccount) and service.settings.accounts != "closed"
    template = "sign_up.html" if journey.wish == "sign-up" or new else "sign_in.html"
    return entrance_page(
        request,
        service,
        template,
        problem,
        next=journey.next,
        name=journey.name,
        invite=journey.invite,
    )


def _journey(request: Request) -> Journey | None:
    packed = request.cookies.get(cookie(request, "journey"), "")
    try:
        return Journey.model_validate_json(base64.urlsafe_b64decode(packed.encode()))
    except (ValueError, ValidationError):
        return None
