"""Accounts: users, sessions, tokens, invitations, what submissions cost, and throttled tries."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_INSTANT = sa.DateTime(timezone=True)
_TABLES = ("tries", "usage", "tokens", "sessions", "users", "invites")


def upgrade() -> None:
    """Make the tables; what was submitted before costs nobody anything."""
    _invites()
    _users()
    _sessions()
    _tokens()
    _usage()
    _tries()


def downgrade() -> None:
    """Forget all accounts."""
    for table in _TABLES:
        op.drop_table(table)


def _user() -> sa.Column[str]:
    return sa.Column("user", sa.String(64), sa.ForeignKey("users.name"), nullable=False)


def _invites() -> None:
    op.create_table(
        "invites",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("note", sa.String(100), nullable=False),
        sa.Column("created_by", sa.String(64), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.Column("uses_left", sa.Integer, nullable=False),
    )


def _users() -> None:
    limits = ("waiting_limit", "hourly_limit", "gpu_seconds_limit")
    op.create_table(
        "users",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("password", sa.String(200), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("invite", _SERIAL, sa.ForeignKey("invites.id")),
        *(sa.Column(name, sa.Integer) for name in limits),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String(64), primary_key=True),
        _user(),
        sa.Column("expires_at", _INSTANT, nullable=False),
    )
    op.create_index("sessions_by_user", "sessions", ["user"])
    op.create_index("sessions_by_end", "sessions", ["expires_at"])


def _tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        _user(),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("scopes", sa.String(64), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("expires_at", _INSTANT, nullable=False),
        sa.Column("used_at", _INSTANT),
        sa.Column("revoked_at", _INSTANT),
    )
    op.create_index("tokens_by_user", "tokens", ["user"])


def _usage() -> None:
    op.create_table(
        "usage",
        sa.Column("submission", sa.String(64), primary_key=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("at", _INSTANT, nullable=False),
        sa.Column("gpu_seconds", sa.Float(53), nullable=False),
    )
    op.create_index("usage_by_user", "usage", ["user", "at"])


def _tries() -> None:
    op.create_table(
        "tries",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("since", _INSTANT, nullable=False),
    )
    op.create_index("tries_by_start", "tries", ["since"])
