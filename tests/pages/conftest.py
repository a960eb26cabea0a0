"""One service for all tests of a module."""

from collections.abc import Iterator

import pytest

from tests.pages.site import Site, serve


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serve(tmp_path_factory.mktemp("site")) as running:
        yield running
