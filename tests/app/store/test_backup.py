"""A backup holds everything, and a restore brings it back, into either database."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.errors import Conflict, Invalid
from app.main import Parts
from app.store import Store, submissions
from app.store.backup import backup, restore
from app.store.tables import Base
from tests.app import judging


@pytest.fixture
def judged(parts: Parts) -> Parts:
    """A service with submissions in every state."""
    judging.judge(parts, "ada", 10.0)
    judging.judge(parts, "bob", 12.0)
    judging.submit(parts)
    return parts


@pytest.fixture
def empty(database_url: str) -> Iterator[Store]:
    """A new database of either kind."""
    store = Store(database_url)
    store.migrate()
    yield store
    store.close()


def content(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with store.connect() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(select(table))), key=str)
            for table in Base.metadata.sorted_tables
        }


def test_what_was_backed_up_is_restored(judged: Parts, empty: Store, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    before = content(judged.store)
    assert backup(judged.store, file) == sum(map(len, before.values()))
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("backup")) == ["backup"]
    restore(file, empty)
    assert content(empty) == before
    assert len(before["board"]) == 2


def test_numbers_go_on_after_a_restore(judged: Parts, empty: Store, tmp_path: Path) -> None:
    """PostgreSQL counts apart from the rows."""
    file = tmp_path / "backup"
    backup(judged.store, file)
    restore(file, empty)
    origin = submissions.Origin("ada", None, "0" * 64)
    with empty.write() as session:
        row = submissions.insert(session, judging.submission(), origin)
        assert row.number == 4


def test_a_backup_of_an_earlier_release_is_brought_up_to_date(empty: Store, tmp_path: Path) -> None:
    file = tmp_path / "old"
    old = Store(f"sqlite:///{file}")
    old.migrate("0001")
    with old.transaction() as connection:
        connection.exec_driver_sql(
            "INSERT INTO devices (name, seen_at) VALUES ('H200', '2026-01-01')"
        )
    old.close()
    untouched = file.read_bytes()
    assert restore(file, empty) == 1
    assert file.read_bytes() == untouched


def test_nothing_is_mixed_or_overwritten(judged: Parts, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    backup(judged.store, file)
    with pytest.raises(Conflict, match="is there already"):
        backup(judged.store, file)
    with pytest.raises(Conflict, match="not empty"):
        restore(file, judged.store)


def test_what_is_no_backup_is_refused(empty: Store, tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other"
    text.write_text("hello")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE submissions (a)")
    for file in (text, other):
        with pytest.raises(Invalid, match="no backup"):
            restore(file, empty)
    with pytest.raises(Invalid, match="cannot be read"):
        restore(tmp_path / "nothing", empty)
    assert not list(tmp_path.glob("*.restoring*"))
