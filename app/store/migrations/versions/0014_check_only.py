"""Whether the test cases alone were asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the column."""
    column = sa.Column("check_only", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("submissions", column)


def downgrade() -> None:
    """Take it away."""
    op.drop_column("submissions", "check_only")
