"""The routes about webhooks."""

from fastapi import APIRouter
from starlette.responses import Response

from app.accounts.schemas import Number
from app.api.accounts import WithAccounts
from app.api.problems import problems
from app.webhooks import managing
from app.webhooks.managing import Delivery, NewWebhook, Webhook, WebhookRequest

router = APIRouter(prefix="/api/v1/webhooks", responses=problems(401, 403, 404, 422, 503))


@router.get("")
def list_webhooks(service: WithAccounts) -> tuple[Webhook, ...]:
    """Your webhooks, the newest first, without their secrets."""
    return managing.list_all(service)


@router.post("", status_code=201, responses=problems(400, 409))
def create_webhook(service: WithAccounts, wanted: WebhookRequest) -> NewWebhook:
    """Be told of your submissions' verdicts or, for admins, of a contest; the secret that
    deliveries are signed with is shown this once."""
    return managing.create(service, wanted)


@router.delete("/{webhook}", status_code=204, response_class=Response)
def delete_webhook(service: WithAccounts, webhook: Number) -> None:
    """Be told nothing more, not even what is due."""
    managing.delete(service, webhook)


@router.get("/{webhook}/deliveries")
def list_deliveries(service: WithAccounts, webhook: Number) -> tuple[Delivery, ...]:
    """The latest hundred deliveries of a webhook, and what came of them."""
    return managing.deliveries(service, webhook)
