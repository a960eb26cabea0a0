"""Webhooks and their deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_MOMENT = sa.DateTime(timezone=True)
_DUE = sa.text("next_at IS NOT NULL")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "webhooks",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("user", sa.String(64), sa.ForeignKey("users.name"), nullable=False),
        sa.Column("contest", sa.String(64), sa.ForeignKey("contests.name")),
        sa.Column("url", sa.String(500), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
    )
    op.create_index("webhooks_by_user", "webhooks", ["user"])
    op.create_index("webhooks_by_contest", "webhooks", ["contest"])
    webhook = sa.ForeignKey("webhooks.id", ondelete="CASCADE")
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("webhook", _SERIAL, webhook, nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", _MOMENT),
        sa.Column("outcome", sa.String(200), nullable=False),
        sa.Column("delivered_at", _MOMENT),
    )
    op.create_index("webhook_deliveries_by_webhook", "webhook_deliveries", ["webhook", "id"])
    op.create_index(
        "webhook_deliveries_due",
        "webhook_deliveries",
        ["next_at"],
        sqlite_where=_DUE,
        postgresql_where=_DUE,
    )


def downgrade() -> None:
    """Take them away."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
