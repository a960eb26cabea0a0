import pytest

from workers.measure.shares import summed


def test_steps_of_one_name_are_added_up() -> None:
    shares = summed([("partial", 3.0), ("zero_", 1.0), ("partial", 3.0), ("combine", 1.0)])
    assert [(share.step, share.share) for share in shares] == [
        ("partial", 0.75),
        ("zero_", 0.125),
        ("combine", 0.125),
    ]
    assert sum(share.share for share in shares) == pytest.approx(1)
