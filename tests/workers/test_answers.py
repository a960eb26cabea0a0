"""The verdict for a jail that gave no answer."""

import pytest

from workers.answers import failure_of
from workers.jail import Limits, Outcome, Status

LIMITS = Limits(wall_s=75, cpu_s=15)


@pytest.mark.parametrize(
    ("status", "limit"),
    [
        (Status.TIMEOUT, "did not end within 75 s"),
        (Status.CPU, "more than 15 s of processor time"),
        (Status.STILL, "stood still for 600 s"),
    ],
)
def test_a_timeout_says_which_time_ran_out(status: Status, limit: str) -> None:
    failure = failure_of(Outcome(status), LIMITS, "the run on the interpreter")
    assert failure is not None
    assert failure.verdict == "timeout"
    assert failure.reason.startswith("the run on the interpreter")
    assert limit in failure.reason
