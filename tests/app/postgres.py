"""A PostgreSQL server of the tests' own, on a socket in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

_DEBIAN = Path("/usr/lib/postgresql")
_FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200"


def programs() -> Path | None:
    """Folder of the server's programs; None where Debian's package `postgresql` is missing."""
    found = sorted(path.parent for path in _DEBIAN.glob("*/bin/initdb"))
    return found[-1] if found else None


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """URL of an empty database; the server ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="kj-pg-"))
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(
            command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    run("initdb", "-A", "trust", "-U", "judge", "--no-sync", "--locale=C", "-E", "UTF8")
    options = f"{_FAST} -c listen_addresses='' -c unix_socket_directories={folder}"
    run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", options)
    try:
        yield f"postgresql+psycopg://judge@/postgres?host={folder}"
    finally:
        run("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder)


def emptied(url: str) -> str:
    """The URL, of a database whose content was thrown away."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url
