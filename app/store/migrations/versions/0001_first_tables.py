"""First tables: submissions, reports, stages, plans, devices and the board."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_INSTANT = sa.DateTime(timezone=True)
_UNFINISHED = sa.text("stage <> 'finished'")


def upgrade() -> None:
    """Make the tables."""
    _submissions()
    _results()
    _board()


def downgrade() -> None:
    """Forget everything."""
    for table in ("board", "devices", "plans", "stages", "reports", "submissions"):
        op.drop_table(table)


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("number", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("task", sa.String(64), nullable=False),
        sa.Column("task_version", sa.Integer, nullable=False),
        sa.Column("device", sa.String(32), nullable=False),
        sa.Column("measured", sa.Boolean, nullable=False),
        sa.Column("entry", sa.String(128), nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("verdict", sa.String(32)),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("score", sa.Float(53)),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("finished_at", _INSTANT),
        sa.Column("moved_at", sa.Float(53), nullable=False),
        sa.Column("idempotency_key", sa.String(200)),
        sa.Column("body_sha256", sa.String(64), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.UniqueConstraint("user", "idempotency_key", name="submissions_idempotency"),
    )
    op.create_index("submissions_by_task", "submissions", ["task", "number"])
    op.create_index("submissions_by_user", "submissions", ["user", "number"])
    op.create_index("submissions_by_verdict", "submissions", ["verdict", "number"])
    op.create_index("submissions_by_verdict_of_task", "submissions", ["verdict", "task", "number"])
    op.create_index(
        "submissions_unfinished",
        "submissions",
        ["number", "stage", "user"],
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )


def _results() -> None:
    of_submission = sa.ForeignKey("submissions.number")
    op.create_table(
        "reports",
        sa.Column("submission", _SERIAL, of_submission, primary_key=True, autoincrement=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "stages",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("submission", _SERIAL, sa.ForeignKey("submissions.number"), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("case", sa.String(64)),
        sa.Column("worker", sa.Text, nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("stream_id", sa.String(200)),
        sa.UniqueConstraint("stream_id", name="stages_stream_id"),
    )
    op.create_index("stages_by_submission", "stages", ["submission", "id"])
    op.create_table(
        "plans",
        sa.Column(
            "submission",
            _SERIAL,
            sa.ForeignKey("submissions.number"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("nbytes", sa.Integer, nullable=False),
        sa.Column("bundle", sa.LargeBinary, nullable=False),
    )


def _board() -> None:
    op.create_table(
        "devices",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("seen_at", _INSTANT, nullable=False),
    )
    op.create_table(
        "board",
        sa.Column("task", sa.String(64), primary_key=True),
        sa.Column("task_version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("device", sa.String(32), primary_key=True),
        sa.Column("user", sa.String(64), primary_key=True),
        sa.Column("submission", sa.String(64), sa.ForeignKey("submissions.id"), nullable=False),
        sa.Column("score", sa.Float(53), nullable=False),
        sa.Column("low", sa.Float(53), nullable=False),
        sa.Column("high", sa.Float(53), nullable=False),
        sa.Column("finished_at", _INSTANT, nullable=False),
    )
    op.create_index("board_by_score", "board", ["task", "task_version", "device", "score"])
