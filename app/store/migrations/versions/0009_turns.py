"""Turns: submissions wait in the database until it is their user's turn."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_UNFINISHED = sa.text("stage <> 'finished'")


def upgrade() -> None:
    """What is there already was handed to the workers."""
    op.add_column(
        "submissions", sa.Column("released", sa.Boolean, nullable=False, server_default=sa.true())
    )
    op.create_index(
        "submissions_turns",
        "submissions",
        ["released", "device", "measured", "user", "number", "stage"],
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )
    op.create_table(
        "turns",
        sa.Column("user", sa.String(64), primary_key=True),
        sa.Column(
            "served", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False, index=True
        ),
    )


def downgrade() -> None:
    """The reaper of earlier releases queues whatever waits."""
    op.drop_table("turns")
    op.drop_index("submissions_turns", "submissions")
    op.drop_column("submissions", "released")
