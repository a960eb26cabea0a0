"""Templates to HTML: one environment, always escaping, with what every page needs."""

import secrets
from collections.abc import Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.access import page_service
from app.pages import formats, listing, markdown
from app.pages.assets import FRONTEND, static
from app.pages.security import page_headers
from app.pages.verdicts import WORDINGS
from app.service import Service


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **context: object,
) -> HTMLResponse:
    """A whole page, with its banners and its content policy; blocks on the service's health."""
    nonce = secrets.token_urlsafe(16)
    service = page_service(request)
    html = _environment.get_template(template).render(
        _of_caller(service) | context,
        nonce=nonce,
        path=request.url.path,
        health=service.health(),
        has_accounts=service.settings.has_accounts,
    )
    return HTMLResponse(html, status, headers={**page_headers(nonce), **(headers or {})})


def fragment(service: Service, template: str, **context: object) -> str:
    """Part of a page, to be put into one that the service's caller has open already."""
    return _environment.get_template(template).render(_of_caller(service) | context)


def _of_caller(service: Service) -> dict[str, object]:
    """Who looks at the page, and what its forms must send along."""
    return {"caller": service.caller, "csrf": service.caller.form_token or ""}


def _make_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FRONTEND / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(static=static, wordings=WORDINGS)
    environment.filters.update(
        clock_time=formats.clock_time,
        data_size=formats.data_size,
        distance=formats.distance,
        error=formats.error,
        giga=formats.giga,
        instructions=formats.instructions,
        local_moment=formats.local_moment,
        magnitude=formats.magnitude,
        markdown=markdown.to_html,
        memory=formats.memory,
        microseconds=formats.microseconds,
        moment=formats.moment,
        noun=formats.noun,
        percent=formats.percent,
        printed=listing.printed,
        significant=formats.significant,
        sizes=formats.sizes,
        span=formats.span,
        statement=markdown.statement,
        tera=formats.tera,
        visible=listing.visible,
    )
    return environment


_environment = _make_environment()
