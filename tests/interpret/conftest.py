"""One interpreter process for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.interpret.interpreter import Interpreter, start


@pytest.fixture(scope="package")
def interpreter() -> Iterator[Interpreter]:
    """A warm interpreter."""
    with start() as interpreter:
        yield interpreter
