"""The randomised run in a short form; `make chaos` is the long one."""

import io

from tests.chaos.faults import Scale
from tests.chaos.run import run

KINDS = (
    "kill service",
    "kill build wardens",
    "redis without its data",
    "database locked",
    "cancel while building",
)


def test_what_is_accepted_ends_once_whatever_fails() -> None:
    out = io.StringIO()
    result = run(15, 7, KINDS, Scale(locked=2), out)
    assert result.broken == [], out.getvalue()
    assert len(result.ledger.entries) == 15
    assert len(result.struck) == len(KINDS)
