"""A number for each board that grows when the board changes, and an index of what is held."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_HELD = sa.text("held <> ''")


def upgrade() -> None:
    """Make the table and the index."""
    op.create_table(
        "board_versions",
        sa.Column("task", sa.String(64), primary_key=True),
        sa.Column("task_version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("device", sa.String(32), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
    )
    op.create_index(
        "standings_held",
        "standings",
        ["task", "task_version", "device", "harness", "submission"],
        sqlite_where=_HELD,
        postgresql_where=_HELD,
    )


def downgrade() -> None:
    """Take them away."""
    op.drop_index("standings_held", "standings")
    op.drop_table("board_versions")
