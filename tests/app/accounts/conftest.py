"""One house for all tests of a module."""

from collections.abc import Iterator

import pytest

from kernels.catalog import Catalog
from tests.app.accounts.house import House, opened
from tests.app.conftest import temporary_settings


@pytest.fixture(scope="module")
def house(catalog: Catalog) -> Iterator[House]:
    with temporary_settings() as settings, opened(settings, catalog) as house:
        yield house
