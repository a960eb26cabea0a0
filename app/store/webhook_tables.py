"""The tables of webhooks: where events are told, and each telling until it has succeeded."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.store.tables import SERIAL, Base

_NAME = String(64)


class WebhookRow(Base):
    """One address that is told of a user's submissions or of a contest."""

    __tablename__ = "webhooks"
    __table_args__ = (Index("webhooks_by_user", "user"), Index("webhooks_by_contest", "contest"))

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    user: Mapped[str] = mapped_column(_NAME, ForeignKey("users.name"))
    """Who made it."""
    contest: Mapped[str | None] = mapped_column(_NAME, ForeignKey("contests.name"))
    """Of which it tells; None for the user's own submissions."""
    url: Mapped[str] = mapped_column(String(500))
    secret: Mapped[str] = mapped_column(_NAME)
    """That deliveries are signed with; so it cannot be kept as a digest."""
    created_at: Mapped[datetime]


class DeliveryRow(Base):
    """One event for one address."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        Index("webhook_deliveries_by_webhook", "webhook", "id"),
        Index(
            "webhook_deliveries_due",
            "next_at",
            sqlite_where=text("next_at IS NOT NULL"),
            postgresql_where=text("next_at IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    webhook: Mapped[int] = mapped_column(SERIAL, ForeignKey("webhooks.id", ondelete="CASCADE"))
    event: Mapped[str] = mapped_column(String(32))
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]
    attempts: Mapped[int]
    next_at: Mapped[datetime | None]
    """When it is tried (again); None once it is over."""
    outcome: Mapped[str] = mapped_column(String(200))
    """Of the last attempt; empty before the first."""
    delivered_at: Mapped[datetime | None]
