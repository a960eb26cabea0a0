"""Who may compile a kernel, where submitted code has its hands in the process that asks."""

import resource
import signal
from pathlib import Path

import pytest

from tests.forked import forked
from workers.build.claims import Claims


def test_a_claim_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    claims = Claims(tmp_path)

    def starved() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        with pytest.raises(OSError, match="too large"):
            claims.take("key", "copy")

    forked(starved)
    assert claims.take("key", "copy")
    assert not claims.take("key", "copy")
