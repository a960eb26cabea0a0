"""The database: migrations make the tables that the code declares, and writers queue up."""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import func, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.exc import TimeoutError as WriterTimeout

from app.store import Store, database
from app.store.database import MIGRATIONS
from app.store.tables import Base, BoardRow, DeviceRow, ReportRow, StandingRow
from kernels.contract import DeviceName


def test_migrations_make_the_declared_tables(store: Store) -> None:
    with store.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, Base.metadata) == []


def test_migrations_lead_up_and_down_and_up_again(database_url: str) -> None:
    store = Store(database_url)
    for _ in range(2):
        store.migrate("0001")
        _insert_judged(store, "ada", [12.0, 10.0])
        store.migrate()
        with store.connect() as connection:
            context = MigrationContext.configure(connection)
            assert compare_metadata(context, Base.metadata) == []
        _migrate_down(store, "0001")
        with store.read() as session:
            kept = session.execute(text('SELECT "user", score FROM board')).all()
        assert kept == [("ada", 10.0)]
        _migrate_down(store, "base")
    with store.connect() as connection:
        assert inspect(connection).get_table_names() == ["alembic_version"]
    store.close()


def _migrate_down(store: Store, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with store.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.downgrade(config, revision)


def test_migrating_twice_and_at_once_is_harmless(database_url: str) -> None:
    stores = [Store(database_url) for _ in range(4)]
    threads = [threading.Thread(target=store.migrate) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with stores[0].read() as session:
        assert session.scalar(select(func.count()).select_from(DeviceRow)) == 0
    for store in stores:
        store.close()


def test_foreign_keys_are_enforced(store: Store) -> None:
    with pytest.raises(IntegrityError), store.write() as session:
        session.add(ReportRow(submission=77, attempt=1, body="{}"))


def test_reading_before_writing_does_not_lock_out_other_writers(store: Store) -> None:
    """Every thread reads, then writes what it read plus one: none fails and none is lost."""

    def count_up() -> None:
        for _ in range(10):
            with store.write() as session:
                row = session.get(DeviceRow, DeviceName.H100, with_for_update=True)
                assert row is not None
                row.seen_at = row.seen_at.replace(year=row.seen_at.year + 1)

    with store.write() as session:
        session.add(DeviceRow(name=DeviceName.H100, seen_at=datetime(2000, 1, 1, tzinfo=UTC)))
    threads = [threading.Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as session:
        row = session.get(DeviceRow, DeviceName.H100)
        assert row is not None
        assert row.seen_at == datetime(2040, 1, 1, tzinfo=UTC)


def test_a_writer_whose_turn_does_not_come_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process; the next after it has its turn all the same."""
    store = Store(f"sqlite:///{tmp_path}/judge.db")
    monkeypatch.setattr(database, "_TURN_SECONDS", 0.01)
    with store.write(), pytest.raises(WriterTimeout, match="others"), store.write():
        pass
    with store.write() as session:
        assert session.scalar(select(1)) == 1
    store.close()


def test_boards_from_before_standings_are_carried_over(database_url: str) -> None:
    store = Store(database_url)
    store.migrate("0001")
    _insert_judged(store, "ada", [12.0, 10.0])
    _insert_judged(store, "bob", [11.0])
    store.migrate()
    with store.read() as session:
        best = session.execute(
            select(BoardRow.user, BoardRow.score, BoardRow.low, BoardRow.high, BoardRow.harness)
            .order_by(BoardRow.score)
        ).all()  # fmt: skip
        assert [row.user for row in best] == ["ada", "bob"]
        assert best[0][1:] == pytest.approx((10.0, 9.9, 10.2, 1))
        assert session.scalar(select(func.count()).select_from(StandingRow)) == 3
    store.close()


def _insert_judged(store: Store, user: str, scores: list[float]) -> None:
    """Accepted submissions as the first tables held them."""
    submission = (
        'INSERT INTO submissions (id, "user", task, task_version, device, measured, entry, stage,'
        " attempt, verdict, reason, score, created_at, finished_at, moved_at, body_sha256, source)"
        " VALUES (:id, :user, 'softmax', 1, 'H200', true, 'solve', 'finished', 1, 'accepted', '',"
        " :score, '2026-01-01 00:00:00', '2026-01-01 00:00:00', 0, 'x', 'y')"
    )
    report = (
        "INSERT INTO reports (submission, attempt, body)"
        " SELECT number, 1, :body FROM submissions WHERE id = :id"
    )
    with store.write() as session:
        for score in scores:
            timing = {"low": score * 0.99, "high": score * 1.02}
            cases = [{"kind": "test", "timing": None}, {"kind": "benchmark", "timing": timing}]
            name = f"{user}-{score}"
            session.execute(text(submission), {"id": name, "user": user, "score": score})
            session.execute(text(report), {"id": name, "body": json.dumps({"cases": cases})})
