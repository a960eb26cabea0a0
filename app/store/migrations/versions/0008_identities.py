"""Whom accounts are linked to at OpenID Connect providers."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "identities",
        sa.Column("issuer", sa.String(500), primary_key=True),
        sa.Column("subject", sa.String(255), primary_key=True),
        sa.Column("user", sa.String(64), sa.ForeignKey("users.name"), nullable=False),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("user", "issuer", name="identities_once"),
    )


def downgrade() -> None:
    """Take it away."""
    op.drop_table("identities")
