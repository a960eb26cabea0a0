"""Webhooks in the database. Events are put here in the transaction that brings them about, so
that none is lost and none is told of that did not happen."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, update
from sqlalchemy.orm import Session

from app import clock
from app.roles import Role
from app.store.account_tables import UserRow
from app.store.contest_tables import EntryRow
from app.store.tables import SubmissionRow
from app.store.webhook_tables import DeliveryRow, WebhookRow

JUDGED = "submission.judged"
ANNOUNCED = "contest.announced"
CLOSED = "contest.closed"
_KEPT = timedelta(days=30)


class Due(NamedTuple):
    """A delivery that is to be tried now."""

    id: int
    event: str
    body: str
    attempts: int
    """Before this one."""
    url: str
    secret: str


def judged(session: Session, row: SubmissionRow) -> None:
    """Tell that a submission has its verdict: its author, and the hosts of its contest."""
    contest = session.scalar(select(EntryRow.contest).where(EntryRow.submission == row.id))
    own = and_(WebhookRow.user == row.user, WebhookRow.contest.is_(None))
    names = ("id", "user", "task", "task_version", "device", "label", "verdict", "score")
    told = {name: getattr(row, name) for name in names} | {"contest": contest}
    wanted = own if contest is None else or_(own, WebhookRow.contest == contest)
    _put(session, wanted, JUDGED, {"submission": told})


def of_contest(session: Session, contest: str, event: str, told: Mapping[str, object]) -> None:
    """Tell of something that happened in a contest."""
    _put(session, WebhookRow.contest == contest, event, {"contest": contest, **told})


def insert(session: Session, user: str, contest: str | None, url: str, secret: str) -> WebhookRow:
    """A new webhook."""
    now = clock.now()
    row = WebhookRow(user=user, contest=contest, url=url, secret=secret, created_at=now)
    session.add(row)
    session.flush()
    return row


def of_user(session: Session, user: str) -> Sequence[WebhookRow]:
    """All that a user has made, the newest first."""
    query = select(WebhookRow).where(WebhookRow.user == user)
    return session.scalars(query.order_by(WebhookRow.id.desc())).all()


def by_id(session: Session, user: str, webhook: int) -> WebhookRow | None:
    """A webhook of a user."""
    row = session.get(WebhookRow, webhook)
    return row if row is not None and row.user == user else None


def remove(session: Session, webhook: WebhookRow) -> None:
    """Take a webhook away, and what it has not told yet."""
    session.execute(delete(DeliveryRow).where(DeliveryRow.webhook == webhook.id))
    session.delete(webhook)


def deliveries(session: Session, webhook: int, limit: int) -> Sequence[DeliveryRow]:
    """The latest first."""
    query = select(DeliveryRow).where(DeliveryRow.webhook == webhook)
    return session.scalars(query.order_by(DeliveryRow.id.desc()).limit(limit)).all()


def is_due(session: Session) -> bool:
    """Whether something is to be tried."""
    query = select(DeliveryRow.id).where(DeliveryRow.next_at <= clock.now()).limit(1)
    return session.scalar(query) is not None


def take(session: Session, limit: int, until: datetime) -> list[Due]:
    """What is due, which nobody else takes `until` then: what was never tried before what failed.

    Of disabled accounts nothing, and of contests nothing for who is no admin any more.
    """
    query = (
        select(DeliveryRow, WebhookRow.url, WebhookRow.secret)
        .join(WebhookRow, WebhookRow.id == DeliveryRow.webhook)
        .join(UserRow, UserRow.name == WebhookRow.user)
        .where(DeliveryRow.next_at <= clock.now(), UserRow.disabled.is_(False))
        .where(or_(WebhookRow.contest.is_(None), UserRow.role == Role.ADMIN))
        .order_by(DeliveryRow.attempts, DeliveryRow.next_at)
        .limit(limit)
        .with_for_update(skip_locked=True, of=DeliveryRow)
    )
    found = []
    for row, url, secret in session.execute(query):
        found.append(Due(row.id, row.event, row.body, row.attempts, url, secret))
        row.next_at = until
    return found


def note(session: Session, due: Due, outcome: str, again: datetime | None, *, ok: bool) -> None:
    """What came of an attempt, and when the next one is."""
    session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.id == due.id)
        .values(
            attempts=due.attempts + 1,
            outcome=outcome[:200],
            next_at=again,
            delivered_at=clock.now() if ok else None,
        )
    )


def prune(session: Session) -> None:
    """Delete what was over a month ago."""
    old = (DeliveryRow.next_at.is_(None), DeliveryRow.created_at < clock.now() - _KEPT)
    session.execute(delete(DeliveryRow).where(*old))


def count(session: Session, user: str) -> int:
    """How many webhooks a user has."""
    return session.scalar(select(func.count()).where(WebhookRow.user == user)) or 0


def _put(
    session: Session, wanted: ColumnElement[bool], event: str, told: Mapping[str, object]
) -> None:
    now = clock.now()
    body = json.dumps({"event": event, "at": now.isoformat(), **told}, ensure_ascii=False)
    for webhook in session.scalars(select(WebhookRow.id).where(wanted)):
        session.add(
            DeliveryRow(
                webhook=webhook,
                event=event,
                body=body,
                created_at=now,
                attempts=0,
                next_at=now,
                outcome="",
                delivered_at=None,
            )
        )
