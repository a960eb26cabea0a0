"""The connection to the database: SQLite or PostgreSQL, and transactions that do not clash."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import TimeoutError as WriterTimeout
from sqlalchemy.orm import Session

MIGRATIONS = Path(__file__).parent / "migrations"

_MIGRATION_LOCK = 7_250_133
"""Any number; processes that start together on one PostgreSQL migrate one after the other."""
_TURN_SECONDS = 30.0
"""A writer's wait for those before it in this process."""


class Store:
    """A database; one per process, safe to share between threads."""

    def __init__(self, url: str) -> None:
        """Connect lazily; nothing is read or written yet."""
        address = make_url(url)
        self.embedded = address.get_backend_name() == "sqlite"
        if self.embedded and address.database:
            Path(address.database).parent.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(
            address,
            pool_size=20,
            max_overflow=40,
            pool_use_lifo=True,
            pool_pre_ping=not self.embedded,
        )
        if self.embedded:
            _take_over_transactions(self._engine)
        self._writing = self._engine.execution_options(write=True)
        self._writer = threading.Lock()

    def migrate(self, revision: str = "head") -> None:
        """Bring the tables up to date; safe when several processes start at once."""
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        with self.transaction() as connection:
            if not self.embedded:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            config.attributes["connection"] = connection
            command.upgrade(config, revision)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A consistent view; nothing can be lost by leaving it."""
        with Session(self._engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction: committed at the end, rolled back on any error."""
        with (
            self._turn(),
            Session(self._writing, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A bare connection, for tests of the tables themselves."""
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A connection that sees the rows of one moment, whatever others write meanwhile."""
        level = {} if self.embedded else {"isolation_level": "REPEATABLE READ"}
        with self._engine.connect().execution_options(**level) as connection, connection.begin():
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A connection whose changes are committed at the end, or undone by an error."""
        with self._turn(), self._writing.begin() as connection:
            yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        # SQLite lets writers look again and again, those who came last most often: with many at
        # once some would give up though none holds the file for long.
        if not self.embedded:
            yield
            return
        if not self._writer.acquire(timeout=_TURN_SECONDS):
            raise WriterTimeout(f"others have been writing for {_TURN_SECONDS:g} s")
        try:
            yield
        finally:
            self._writer.release()

    def compact(self) -> None:
        """Of SQLite: everything into the one file, without gaps or a log beside it."""
        self._engine.dispose()  # while another connection is open the log stays
        connection = self._engine.raw_connection()  # a transaction would forbid both statements
        try:
            for statement in ("PRAGMA journal_mode=DELETE", "VACUUM"):
                connection.cursor().execute(statement)
        finally:
            connection.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _take_over_transactions(engine: Engine) -> None:
    # The driver's own BEGIN is deferred: a reader that then writes fails at once with "database
    # is locked" if another has written since. A writer says so first, and waits its turn.
    @event.listens_for(engine, "connect")
    def configure(connection: sqlite3.Connection, _: Any) -> None:
        connection.isolation_level = None
        for pragma in ("busy_timeout=10000", "journal_mode=WAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
