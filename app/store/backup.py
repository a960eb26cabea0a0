"""Backups: every table, copied row by row into one SQLite file, and back into any database.

A backup of PostgreSQL is an SQLite file as well, so that a restore can also move an installation
from the one to the other.
"""

import os
from pathlib import Path

from sqlalchemy import Connection, Integer, Table, func, insert, select, text
from sqlalchemy.exc import DatabaseError

from app.errors import Conflict, Invalid
from app.store.database import Store
from app.store.tables import Base

_BATCH = 200


def backup(store: Store, file: Path) -> int:
    """Write all rows, as they are at one moment, to a new file; how many. Conflict if it is there.

    The service may run meanwhile. Only the owner may read the file: it holds hashed passwords and
    everybody's sources.
    """
    if file.exists():
        raise Conflict(f"{file} is there already", "Choose another name, or remove it.")
    unfinished = file.with_name(f"{file.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    target = Store(f"sqlite:///{unfinished}")
    try:
        target.migrate()
        count = _copy_all(store, target)
        target.compact()
    finally:
        target.close()
    unfinished.rename(file)
    return count


def restore(file: Path, store: Store) -> int:
    """Put a backup's rows into a database without any; how many.

    Invalid for a file that is no backup, Conflict for a database that holds something. A backup of
    an earlier release is brought up to date on the way, in a copy.
    """
    if _rows(store):
        raise Conflict(
            "the database is not empty", "Restore into a new one; this one would be mixed up."
        )
    copy = file.with_name(f"{file.name}.restoring")
    try:
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o600)
        source = Store(f"sqlite:///{copy}")
        try:
            source.migrate()
            return _copy_all(source, store)
        finally:
            source.close()
    except DatabaseError as error:
        raise Invalid(
            f"{file} is no backup of kerneljudge ({error.__class__.__name__})",
            "Name a file that `python -m app backup` wrote.",
        ) from None
    except OSError as error:
        raise Invalid(f"{file} cannot be read ({error.strerror})", "Check its name.") from None
    finally:
        for name in (copy, *copy.parent.glob(f"{copy.name}-*")):
            name.unlink(missing_ok=True)


def _copy_all(source: Store, target: Store) -> int:
    """In one transaction on either side: all rows of one moment, or none."""
    with source.snapshot() as reading, target.transaction() as writing:
        count = sum(_copy(table, reading, writing) for table in Base.metadata.sorted_tables)
        if not target.embedded:
            _advance_counters(writing)
    return count


def _copy(table: Table, reading: Connection, writing: Connection) -> int:
    count = 0
    rows = reading.execution_options(yield_per=_BATCH).execute(select(table))
    for batch in rows.mappings().partitions():
        writing.execute(insert(table), [dict(row) for row in batch])
        count += len(batch)
    return count


def _advance_counters(writing: Connection) -> None:
    """PostgreSQL counts apart from the rows: let it go on after the largest number."""
    for table in Base.metadata.sorted_tables:
        for column in table.primary_key:
            if column.autoincrement is True and isinstance(column.type, Integer):
                largest = writing.scalar(select(func.max(column)))
                if largest is not None:
                    name = text("SELECT setval(pg_get_serial_sequence(:table, :column), :largest)")
                    values = {"table": table.name, "column": column.name, "largest": largest}
                    writing.execute(name, values)


def _rows(store: Store) -> int:
    with store.connect() as connection:
        return sum(
            connection.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        )
