"""The audit log holds the acts of admins outside of contests too, and what each was done to."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_INDICES = {"audit_by_user": ["user", "id"], "audit_by_about": ["about", "id"]}


def upgrade() -> None:
    """Add the column and what finds rows by it."""
    about = sa.Column("about", sa.String(64), nullable=False, server_default="")
    op.add_column("audit", about)
    for name, columns in _INDICES.items():
        op.create_index(name, "audit", columns)


def downgrade() -> None:
    """Take them away."""
    for name in _INDICES:
        op.drop_index(name, "audit")
    op.drop_column("audit", "about")
