"""All routes of the pages."""

from fastapi import APIRouter, FastAPI

from app.pages import boards, documents, health, submissions, tasks
from app.pages.assets import Assets


def mount_pages(app: FastAPI) -> None:
    """Add the pages and their static files; `app.state.service` must be a Service by then."""
    router = APIRouter(include_in_schema=False)
    for part in (tasks, submissions, boards, health, documents):
        router.include_router(part.router)
    app.include_router(router)
    app.mount("/static", Assets(), name="static")
