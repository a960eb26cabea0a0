"""Contests; tables of which rows are only added are kept so by triggers."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_MOMENT = sa.DateTime(timezone=True)
_KEPT = ("audit", "contest_finals")


def upgrade() -> None:
    """Make the tables and what guards them."""
    _make_contests()
    _make_entrants()
    _make_words()
    _make_ends()
    for table in _KEPT:
        _guard(table)


def downgrade() -> None:
    """Take them away; triggers go with their tables."""
    for table in (
        "audit",
        "contest_finals",
        "contest_reruns",
        "contest_questions",
        "contest_announcements",
        "contest_entries",
        "contest_members",
        "contest_entrants",
        "contests",
    ):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change()")


def _make_contests() -> None:
    op.create_table(
        "contests",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("tasks", sa.Text, nullable=False),
        sa.Column("device", sa.String(32), nullable=False),
        sa.Column("zone", sa.String(64), nullable=False),
        sa.Column("starts_at", _MOMENT, nullable=False),
        sa.Column("ends_at", _MOMENT, nullable=False),
        sa.Column("frozen_at", _MOMENT),
        sa.Column("invite", sa.String(64)),
        sa.Column("team_size", sa.Integer, nullable=False),
        sa.Column("hourly_limit", sa.Integer),
        sa.Column("final_top", sa.Integer, nullable=False),
        sa.Column("final_rounds", sa.Integer, nullable=False),
        sa.Column("open_sources", sa.Boolean, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("closed_at", _MOMENT),
    )


def _make_entrants() -> None:
    op.create_table(
        "contest_entrants",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        _contest(),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("code", sa.String(64), unique=True),
        sa.Column("disqualified", sa.Text, nullable=False),
        sa.Column("joined_at", _MOMENT, nullable=False),
        sa.UniqueConstraint("contest", "name", name="contest_entrants_once"),
    )
    op.create_table(
        "contest_members",
        _contest(primary_key=True),
        sa.Column("user", sa.String(64), sa.ForeignKey("users.name"), primary_key=True),
        _entrant(),
    )
    op.create_index("contest_members_by_entrant", "contest_members", ["entrant"])
    op.create_table(
        "contest_entries",
        sa.Column("submission", sa.String(64), primary_key=True),
        _contest(),
        _entrant(),
        sa.Column("at", _MOMENT, nullable=False),
    )
    op.create_index("contest_entries_by_contest", "contest_entries", ["contest", "submission"])
    op.create_index("contest_entries_by_entrant", "contest_entries", ["entrant", "at"])


def _make_words() -> None:
    op.create_table(
        "contest_announcements",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        _contest(),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("contest_announcements_by_contest", "contest_announcements", ["contest", "id"])
    op.create_table(
        "contest_questions",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        _contest(),
        _entrant(),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("public", sa.Boolean, nullable=False),
    )
    op.create_index("contest_questions_by_contest", "contest_questions", ["contest", "id"])


def _make_ends() -> None:
    op.create_table(
        "contest_reruns",
        sa.Column("rerun", sa.String(64), primary_key=True),
        _contest(),
        sa.Column("task", sa.String(64), nullable=False),
    )
    op.create_index("contest_reruns_by_contest", "contest_reruns", ["contest"])
    op.create_table(
        "contest_finals",
        _contest(primary_key=True),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("contest", sa.String(64), nullable=False),
        sa.Column("act", sa.String(32), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_index("audit_by_contest", "audit", ["contest", "id"])


def _contest(*, primary_key: bool = False) -> sa.Column[str]:
    target = sa.ForeignKey("contests.name")
    return sa.Column("contest", sa.String(64), target, primary_key=primary_key, nullable=False)


def _entrant() -> sa.Column[int]:
    return sa.Column("entrant", _SERIAL, sa.ForeignKey("contest_entrants.id"), nullable=False)


def _guard(table: str) -> None:
    """Let the database refuse to change or delete rows."""
    if op.get_bind().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are never changed'); END"
            )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
