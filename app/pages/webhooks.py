"""One's webhooks, and what came of their deliveries."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.accounts.schemas import Number
from app.errors import ServiceError
from app.pages.access import with_accounts
from app.pages.queries import parsed
from app.pages.rendering import render
from app.service import Service
from app.webhooks import managing
from app.webhooks.managing import NewWebhook, WebhookRequest

router = APIRouter(prefix="/you/webhooks")

WithAccounts = Annotated[Service, Depends(with_accounts)]
Text = Annotated[str, Form(max_length=500)]


@router.get("")
def list_webhooks(request: Request, service: WithAccounts) -> Response:
    """All, and a form that makes one."""
    return _list(request, service)


@router.post("")
def create_webhook(
    request: Request, service: WithAccounts, url: Text = "", contest: Text = ""
) -> Response:
    """Make one; its secret is on the next page and never again."""
    try:
        fields = {"url": url.strip(), "contest": contest.strip() or None}
        made = managing.create(service, parsed(WebhookRequest, fields, {"url": "Address"}))
    except ServiceError as problem:
        return _list(request, service, problem)
    return _list(request, service, made=made)


@router.get("/{webhook}")
def show_deliveries(request: Request, service: WithAccounts, webhook: Number) -> Response:
    """What it was told, and what it is told again."""
    found = managing.deliveries(service, webhook)
    return render(request, "webhook_deliveries.html", webhook=webhook, deliveries=found)


@router.post("/{webhook}/delete")
def delete_webhook(service: WithAccounts, webhook: Number) -> Response:
    """Tell it nothing more."""
    managing.delete(service, webhook)
    return RedirectResponse("/you/webhooks", 303)


def _list(
    request: Request,
    service: Service,
    problem: ServiceError | None = None,
    made: NewWebhook | None = None,
) -> Response:
    return render(
        request,
        "webhooks.html",
        status=problem.status if problem else 200,
        headers={"Cache-Control": "no-store"} if made else None,
        problem=problem.problem if problem else None,
        made=made,
        webhooks=managing.list_all(service),
    )
