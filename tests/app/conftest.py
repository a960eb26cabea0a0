"""A database of one's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'judge.db'}")
    store.migrate()
    yield store
    store.close()
