"""One installation with a secret in its environment, for all tests of this folder."""

import secrets
from collections.abc import Iterator

import pytest

from scripts.stack import Stack
from tests.hostile.trial import SECRET, Trial
from tests.stack.conftest import free_port

_AT_ONCE = 6


@pytest.fixture(scope="session")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """Service and workers, and what was found out with them so far."""
    secret = f"canary-{secrets.token_hex(8)}"
    settings = {
        SECRET: secret,
        "KERNELJUDGE_GPU": "off",
        "KERNELJUDGE_BUILD_WORKERS": str(_AT_ONCE),
    }
    with Stack(tmp_path_factory.mktemp("hostile"), free_port(), settings) as stack:
        stack.wait_until_ready()
        yield Trial(stack, secret)
