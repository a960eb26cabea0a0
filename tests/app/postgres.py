"""A PostgreSQL server of the tests' own, on a socket in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

_DEBIAN = Path("/usr/lib/postgresql")
_FAST = "-c fsync=off -c full_page_writes=off -c max_connections=200"
_USER = "postgres" if os.geteuid() == 0 else None
"""It refuses to run as root."""


def programs() -> Path | None:
    """Folder of the server's programs; None where Debian's package `postgresql` is missing."""
    found = sorted(path.parent for path in _DEBIAN.glob("*/bin/initdb"))
    return found[-1] if found else None


@contextmanager
def postgres(programs: Path) -> Iterator[str]:
    """URL of an empty database; the server ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="kj-pg-"))
    if _USER:
        shutil.chown(folder, _USER)
    words = ("-A", "trust", "-U", "judge", "--no-sync", "--locale=C", "-E", "UTF8")
    _run(programs / "initdb", folder, *words)
    _start(programs, folder)
    try:
        yield f"postgresql+psycopg://judge@/postgres?host={folder}"
    finally:
        _stop(programs, folder)
        shutil.rmtree(folder)


@contextmanager
def crashed(programs: Path, url: str) -> Iterator[None]:
    """The server is away as long as the block lasts, as after a crash."""
    folder = Path(str(make_url(url).query["host"]))
    _stop(programs, folder)
    try:
        yield
    finally:
        _start(programs, folder)


def _start(programs: Path, folder: Path) -> None:
    options = f"{_FAST} -c listen_addresses='' -c unix_socket_directories={folder}"
    _run(programs / "pg_ctl", folder, "start", "-w", "-l", str(folder / "log"), "-o", options)


def _stop(programs: Path, folder: Path) -> None:
    _run(programs / "pg_ctl", folder, "stop", "-m", "immediate")


def _run(program: Path, folder: Path, *words: str) -> None:
    command = [str(program), "-D", str(folder / "data"), *words]
    quiet = subprocess.DEVNULL
    subprocess.run(command, user=_USER, cwd=folder, check=True, stdout=quiet, stderr=quiet)


def emptied(url: str) -> str:
    """The URL, of a database whose content was thrown away."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url
