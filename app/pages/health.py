"""The state of the installation."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from app.pages.access import CurrentService
from app.pages.rendering import render

router = APIRouter()


@router.get("/health")
def show_health(request: Request, service: CurrentService) -> Response:
    """Database, Redis, workers and queues; always 200, since the page itself was served."""
    return render(request, "health.html")
