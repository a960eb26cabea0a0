"""A service of one's own: real SQLite, a real Redis server, the real tasks."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import httpx
import pytest
import redis

from app.main import Parts, assemble
from app.redis_server import connect
from app.settings import Settings
from app.store import Store
from kernels.catalog import Catalog
from tests.app.postgres import emptied, postgres, programs
from tests.app.serving import serving


@cache
def empty_tables() -> bytes:
    """A SQLite database with all tables and no rows: making one for each test takes long."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "empty.db"
        store = Store(f"sqlite:///{file}")
        store.migrate()
        store.compact()
        store.close()
        return file.read_bytes()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    file = tmp_path / "judge.db"
    file.write_bytes(empty_tables())
    store = Store(emptied_database() or f"sqlite:///{file}")
    store.migrate()
    yield store
    store.close()


def emptied_database() -> str:
    """URL of a PostgreSQL database to test on, whose content is thrown away; '' for SQLite."""
    url = os.environ.get("KERNELJUDGE_TEST_DATABASE_URL", "")
    return emptied(url) if url else ""


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server for all tests that ask for one."""
    found = programs()
    if found is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with postgres(found) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind, for what a database may do its own way."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'judge.db'}"
    return emptied(request.getfixturevalue("postgres_url"))


@contextmanager
def temporary_settings() -> Iterator[Settings]:
    """With a short path, since a socket's may have 107 bytes at most."""
    folder = tempfile.mkdtemp(prefix="kj-")
    settings = Settings(data_dir=Path(folder), database_url=emptied_database())
    (settings.data_dir / "kerneljudge.db").write_bytes(empty_tables())
    yield settings
    with suppress(redis.RedisError):  # a service that a test killed leaves its server behind
        connect(settings.redis_address).shutdown(nosave=True)
    shutil.rmtree(folder)


@pytest.fixture
def settings() -> Iterator[Settings]:
    with temporary_settings() as settings:
        yield settings


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture
def parts(settings: Settings, catalog: Catalog) -> Iterator[Parts]:
    """Everything but the background loops, which a test runs step by step."""
    parts = assemble(settings, catalog)
    assert parts.embedded is not None
    parts.embedded.ensure()
    parts.store.migrate()
    yield parts
    parts.embedded.stop()
    parts.connection.close()
    parts.store.close()


@pytest.fixture
def client(settings: Settings, catalog: Catalog) -> Iterator[httpx.Client]:
    """The whole service with its loops, over real HTTP."""
    with (
        serving(settings, catalog) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def shared_client(catalog: Catalog) -> Iterator[httpx.Client]:
    """The same for a whole module."""
    with (
        temporary_settings() as settings,
        serving(settings, catalog) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client
