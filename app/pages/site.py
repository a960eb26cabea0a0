"""All routes of the pages."""

from fastapi import APIRouter, Depends, FastAPI

from app.pages import (
    accounts,
    admin,
    boards,
    catalogue,
    comparisons,
    contests,
    documents,
    health,
    learn,
    operations,
    overall,
    plans,
    reruns,
    single_sign_on,
    submissions,
    tasks,
    webhooks,
)
from app.pages.access import require_own_form, require_reader
from app.pages.assets import Assets


def mount_pages(app: FastAPI) -> None:
    """Add the pages and their static files; `app.state.service` must be a Service by then."""
    own_form = Depends(require_own_form)
    for_all = APIRouter(include_in_schema=False, dependencies=[own_form])
    for part in (health.router, documents.router, accounts.entrance, single_sign_on.entrance):
        for_all.include_router(part)
    inside = APIRouter(include_in_schema=False, dependencies=[Depends(require_reader), own_form])
    pages = (tasks, submissions, reruns, comparisons, boards, overall, contests, accounts)
    for page in (*pages, operations, admin):
        inside.include_router(page.router)
    for view in (catalogue, learn, plans, single_sign_on, webhooks):
        inside.include_router(view.router)
    for router in (for_all, inside):
        app.include_router(router)
    app.mount("/static", Assets(), name="static")
