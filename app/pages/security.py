"""What keeps other sites out: a content policy for pages and an origin check for forms."""

from urllib.parse import urlsplit

from starlette.requests import Request

from app.errors import WrongOrigin


def require_same_origin(request: Request) -> None:
    """WrongOrigin unless the browser says that a page of this site sent the form.

    A client that says nothing of where it comes from is no browser, so nobody's session is at
    stake.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        allowed = site in ("same-origin", "none")
    elif origin is not None:
        allowed = urlsplit(origin).netloc == request.headers.get("host")
    else:
        allowed = True
    if not allowed:
        raise WrongOrigin(
            "the form was sent by a page of another site",
            "Open the task here and submit from its page, or use the API.",
        )


def page_headers(nonce: str) -> dict[str, str]:
    """Headers of every page; `nonce` admits the editor's style sheet."""
    policy = (
        "default-src 'none'; script-src 'self'; "
        f"style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "private, no-cache",
    }
