"""What users do with webhooks; hosts also with those of contests."""

from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from app.accounts.credentials import new_secret
from app.contests.entering import row_of
from app.errors import Conflict, Invalid, NotFound
from app.roles import Scope
from app.schemas import ContestName, Schema
from app.service import Service
from app.store import audit, webhooks
from app.store.webhook_tables import DeliveryRow, WebhookRow
from app.webhooks.sending import NotAllowed, Sender

MOST = 10
"""Webhooks of one account."""

_SHOWN = 100


class WebhookRequest(Schema):
    """A webhook to be made."""

    url: Annotated[str, StringConstraints(pattern=r"^[!-~]{1,500}$")]
    contest: ContestName | None = None
    """For admins: a contest to be told of; by default it is one's own submissions."""


class Webhook(Schema):
    """An address that is told of events."""

    id: int
    url: str
    contest: str | None
    created_at: datetime


class NewWebhook(Webhook):
    """A webhook with the secret that its deliveries are signed with, which is shown once."""

    secret: str


class Delivery(Schema):
    """One event for one address."""

    id: int
    event: str
    body: str
    """As JSON, as it is sent."""
    created_at: datetime
    attempts: int
    outcome: str
    """Of the last attempt; empty before the first."""
    next_at: datetime | None
    """When it is tried again; None once it is over."""
    delivered_at: datetime | None
    """None unless it was taken."""


def create(service: Service, wanted: WebhookRequest) -> NewWebhook:
    """Be told of events; Forbidden, Invalid (address), NotFound (contest), Conflict (too many)."""
    service.caller.require(Scope.SUBMIT if wanted.contest is None else Scope.ADMIN)
    try:
        Sender(private=service.settings.webhook_private).check(wanted.url)
    except NotAllowed as refusal:
        raise Invalid(f"nothing is sent to this address: {refusal}", "Give another.") from None
    secret, user = f"whsec_{new_secret()}", service.caller.name
    with service.store.write() as session:
        if wanted.contest is not None:
            row_of(session, wanted.contest)
            told = {"webhook": wanted.url}
            audit.note(session, user, "webhook", told, contest=wanted.contest)
        if webhooks.count(session, user) >= MOST:
            raise Conflict(f"{user} has {MOST} webhooks", "Delete one that is not needed.")
        row = webhooks.insert(session, user, wanted.contest, wanted.url, secret)
        return NewWebhook(**dict(_shown(row)), secret=secret)


def list_all(service: Service) -> tuple[Webhook, ...]:
    """The caller's, the newest first."""
    service.caller.require(Scope.READ)
    with service.store.read() as session:
        return tuple(map(_shown, webhooks.of_user(session, service.caller.name)))


def delete(service: Service, webhook: int) -> None:
    """Tell it nothing more, not even what is due; NotFound."""
    service.caller.require(Scope.SUBMIT)
    with service.store.write() as session:
        row = webhooks.by_id(session, service.caller.name, webhook)
        if row is None:
            raise _nothing(webhook)
        webhooks.remove(session, row)


def deliveries(service: Service, webhook: int) -> tuple[Delivery, ...]:
    """The latest hundred, the newest first; NotFound."""
    service.caller.require(Scope.READ)
    with service.store.read() as session:
        if webhooks.by_id(session, service.caller.name, webhook) is None:
            raise _nothing(webhook)
        return tuple(map(_delivery, webhooks.deliveries(session, webhook, _SHOWN)))


def _nothing(webhook: int) -> NotFound:
    return NotFound(f"you have no webhook {webhook}", "Look it up among your webhooks.")


def _shown(row: WebhookRow) -> Webhook:
    return Webhook(**{name: getattr(row, name) for name in Webhook.model_fields})


def _delivery(row: DeliveryRow) -> Delivery:
    return Delivery(**{name: getattr(row, name) for name in Delivery.model_fields})
