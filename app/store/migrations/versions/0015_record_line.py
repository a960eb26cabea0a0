"""An index along which the records of a board are found in one pass."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_COUNTS = sa.text("held = ''")


def upgrade() -> None:
    """Make the index."""
    op.create_index(
        "standings_in_time",
        "standings",
        ["task", "task_version", "device", "harness", "finished_at", "submission", "score"],
        sqlite_where=_COUNTS,
        postgresql_where=_COUNTS,
    )


def downgrade() -> None:
    """Take it away."""
    op.drop_index("standings_in_time", "standings")
