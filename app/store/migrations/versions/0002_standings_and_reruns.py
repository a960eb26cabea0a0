"""Standings over several sittings, boards by version of the clock, reruns of stored plans."""

import json
import math
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_INSTANT = sa.DateTime(timezone=True)
_OPEN = sa.text("finished_at IS NULL")


def upgrade() -> None:
    """Make the tables, and the standings of what was accepted before."""
    _standings()
    _reruns()
    op.drop_table("board")
    _board()
    _carry_over()


def downgrade() -> None:
    """Forget sittings and reruns, and leave each user's best, whichever clock measured it."""
    connection = op.get_bind()
    best = connection.execute(sa.text(_BEST).columns(finished_at=_INSTANT)).mappings().all()
    for name in ("sittings", "reruns", "board", "standings"):
        op.drop_table(name)
    board = _first_board()
    if best:
        connection.execute(board.insert(), [dict(row) for row in best])


def _first_board() -> sa.Table:
    table = op.create_table(
        "board",
        sa.Column("task", sa.String(64), primary_key=True),
        sa.Column("task_version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("device", sa.String(32), primary_key=True),
        sa.Column("user", sa.String(64), primary_key=True),
        sa.Column("submission", sa.String(64), sa.ForeignKey("submissions.id"), nullable=False),
        *_scores(),
        sa.Column("finished_at", _INSTANT, nullable=False),
    )
    op.create_index("board_by_score", "board", ["task", "task_version", "device", "score"])
    return table


def _scores() -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Float(53), nullable=False) for name in ("score", "low", "high")]


def _standings() -> None:
    op.create_table(
        "standings",
        sa.Column(
            "submission",
            _SERIAL,
            sa.ForeignKey("submissions.number"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("task", sa.String(64), nullable=False),
        sa.Column("task_version", sa.Integer, nullable=False),
        sa.Column("device", sa.String(32), nullable=False),
        sa.Column("harness", sa.Integer, nullable=False),
        sa.Column("user", sa.String(64), nullable=False),
        *_scores(),
        sa.Column("sittings", sa.Integer, nullable=False),
        sa.Column("held", sa.Text, nullable=False),
        sa.Column("finished_at", _INSTANT, nullable=False),
    )
    best = ["task", "task_version", "device", "harness", "user", "score"]
    op.create_index("standings_best", "standings", best)


def _board() -> None:
    op.create_table(
        "board",
        sa.Column("task", sa.String(64), primary_key=True),
        sa.Column("task_version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("device", sa.String(32), primary_key=True),
        sa.Column("harness", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("user", sa.String(64), primary_key=True),
        sa.Column("submission", sa.String(64), sa.ForeignKey("submissions.id"), nullable=False),
        *_scores(),
        sa.Column("sittings", sa.Integer, nullable=False),
        sa.Column("finished_at", _INSTANT, nullable=False),
    )
    place = ["task", "task_version", "device", "harness", "score"]
    op.create_index("board_by_score", "board", place)


def _reruns() -> None:
    op.create_table(
        "reruns",
        sa.Column("number", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("submission", _SERIAL, sa.ForeignKey("submissions.number"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("created_at", _INSTANT, nullable=False),
        sa.Column("finished_at", _INSTANT),
        sa.Column("moved_at", sa.Float(53), nullable=False),
        sa.Column("inspection", sa.Text),
        sa.UniqueConstraint("id", "submission", name="reruns_once"),
    )
    op.create_index("reruns_by_submission", "reruns", ["submission", "number"])
    op.create_index("reruns_open", "reruns", ["id"], sqlite_where=_OPEN, postgresql_where=_OPEN)
    op.create_table(
        "sittings",
        sa.Column("id", _SERIAL, primary_key=True, autoincrement=True),
        sa.Column("submission", _SERIAL, sa.ForeignKey("submissions.number"), nullable=False),
        sa.Column("rerun", sa.String(64), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("verdict", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("harness", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Float(53)) for name in ("score", "low", "high")),
        sa.Column("finished_at", _INSTANT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.UniqueConstraint("rerun", "submission", "round", name="sittings_once"),
    )
    op.create_index("sittings_by_submission", "sittings", ["submission", "id"])


def _carry_over() -> None:
    """Every accepted submission stands with its one report, and boards have the best of each."""
    connection = op.get_bind()
    metadata = sa.MetaData()
    old = sa.Table("submissions", metadata, autoload_with=connection)
    reports = sa.Table("reports", metadata, autoload_with=connection)
    new = sa.Table("standings", metadata, autoload_with=connection)
    names = ("task", "task_version", "device", "user", "score", "finished_at")
    accepted = connection.execute(
        sa.select(old.c.number, *(old.c[name] for name in names), reports.c.body)
        .join(reports, reports.c.submission == old.c.number)
        .where(old.c.verdict == "accepted", old.c.score.is_not(None))
    ).mappings()
    for row in accepted.all():
        low, high = _interval(row["score"], json.loads(row["body"]))
        values = {name: row[name] for name in names} | {"low": low, "high": high}
        values |= {"submission": row["number"], "harness": 1, "sittings": 1, "held": ""}
        connection.execute(new.insert().values(values))
    connection.execute(sa.text(_FILL_BOARD))


def _interval(score: float, report: dict[str, Any]) -> tuple[float, float]:
    timings = [case["timing"] for case in report["cases"] if case["kind"] == "benchmark"]
    ends = [
        math.exp(sum(math.log(timing[end]) for timing in timings) / len(timings))
        for end in ("low", "high")
        if timings and all(timings)
    ]
    return min([score, *ends]), max([score, *ends])


_FILL_BOARD = """
INSERT INTO board
SELECT task, task_version, device, harness, "user", id, score, low, high, 1, finished_at FROM (
    SELECT s.*, submissions.id AS id, row_number() OVER (
        PARTITION BY s.task, s.task_version, s.device, s."user"
        ORDER BY s.score, s.finished_at, s.submission
    ) AS place
    FROM standings s JOIN submissions ON submissions.number = s.submission
) best WHERE place = 1
"""

_BEST = """
SELECT task, task_version, device, "user", submission, score, low, high, finished_at FROM (
    SELECT board.*, row_number() OVER (
        PARTITION BY task, task_version, device, "user" ORDER BY score, finished_at, submission
    ) AS place
    FROM board
) best WHERE place = 1
"""
