"""Two submissions side by side."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.comparing import compare
from app.errors import Invalid
from app.pages.access import CurrentService
from app.pages.charts.overlay import overlays
from app.pages.charts.ratios import ratios
from app.pages.rendering import render

router = APIRouter()


@router.get("/compare")
def choose(first: str = "", second: str = "") -> Response:
    """What the form of a submission's page leads to."""
    for name in (first, second):
        if not (name.isascii() and name.isalnum() and len(name) <= 64):
            raise Invalid(
                f"{name[:64]!r} is no submission's id",
                "Copy it from the address of the submission's page.",
            )
    return RedirectResponse(f"/compare/{first}/{second}", 303)


@router.get("/compare/{first}/{second}")
def show_comparison(request: Request, service: CurrentService, first: str, second: str) -> Response:
    """Ratios of times, what differs between kernels and sources."""
    comparison = compare(service, first, second)
    before = service.submission_detail(first).report
    after = service.submission_detail(second).report
    assert before is not None  # compare() refuses what is not finished
    assert after is not None
    return render(
        request,
        "compare.html",
        comparison=comparison,
        chart=ratios(comparison),
        overlays=overlays(before, after),
    )
