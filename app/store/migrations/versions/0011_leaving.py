"""When somebody left an entrant of a contest."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the column."""
    op.add_column("contest_members", sa.Column("left_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Take it away: who left is there again."""
    op.drop_column("contest_members", "left_at")
