"""Labels: the submitter's own name for a submission, such as a branch."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Submissions so far have none."""
    op.add_column("submissions", sa.Column("label", sa.String(100)))


def downgrade() -> None:
    """Forget them."""
    op.drop_column("submissions", "label")
