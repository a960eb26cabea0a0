"""An index of what was judged, so that what waits is passed over."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_FINISHED = sa.text("stage = 'finished'")


def upgrade() -> None:
    """Make it."""
    op.create_index(
        "submissions_judged",
        "submissions",
        ["task", "device", "measured", "number"],
        sqlite_where=_FINISHED,
        postgresql_where=_FINISHED,
    )


def downgrade() -> None:
    """Take it away."""
    op.drop_index("submissions_judged", "submissions")
