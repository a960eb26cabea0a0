"""One score from several sittings."""

import math
import random

import pytest

from app.pooling import Estimate, estimate_of, pool
from kernels.contract import Report, Verdict
from tests.app.judging import report, submission

SHARE = 0.002
"""Half width of an interval as a measurer gives it."""


def sitting(score: float, share: float = SHARE) -> Estimate:
    return Estimate(score, score * (1 - share), score * (1 + share))


def half_width(estimate: Estimate) -> float:
    return math.log(estimate.high / estimate.low) / 2


def test_one_sitting_is_its_own_estimate() -> None:
    assert pool([sitting(10)]) == sitting(10)


def test_sittings_that_agree_narrow_the_interval() -> None:
    pooled = pool([sitting(10.0), sitting(10.001), sitting(9.999), sitting(10.0)])
    assert pooled.score == pytest.approx(10, rel=1e-4)
    assert half_width(pooled) == pytest.approx(SHARE / 2, rel=0.01)
    assert pooled.sittings == 4


def test_sittings_that_disagree_widen_it() -> None:
    """Each says ±0.2 %, but they lie 2 % apart: that is what one knows."""
    pooled = pool([sitting(10.0), sitting(10.2)])
    assert pooled.low < 10.0
    assert pooled.high > 10.2


def test_the_order_of_the_sittings_does_not_matter() -> None:
    sittings = [sitting(10.0), sitting(10.3, 0.01), sitting(9.9, 0.004)]
    forwards, backwards = pool(sittings), pool(sittings[::-1])
    assert forwards.score == pytest.approx(backwards.score, rel=1e-12)
    assert forwards.high == pytest.approx(backwards.high, rel=1e-12)


def test_a_sitting_that_knows_less_counts_for_less() -> None:
    pooled = pool([sitting(10.0, 0.001), sitting(10.1, 0.1)])
    assert pooled.score == pytest.approx(10.0, rel=1e-4)


def test_a_unit_of_time_is_only_a_factor() -> None:
    sittings = [sitting(10.0), sitting(10.2), sitting(10.05)]
    scaled = [Estimate(s.score * 1e3, s.low * 1e3, s.high * 1e3) for s in sittings]
    assert pool(scaled).high == pytest.approx(pool(sittings).high * 1e3, rel=1e-9)


def test_an_interval_of_no_width_does_not_outvote_the_rest() -> None:
    pooled = pool([Estimate(10, 10, 10), sitting(10.2), sitting(10.2)])
    assert pooled.low < 10.1 < pooled.high


def test_no_sitting_is_no_estimate() -> None:
    with pytest.raises(ValueError, match="no sitting"):
        pool([])


@pytest.mark.parametrize(("count", "excess", "least"), [(2, 0, 0.94), (5, 1, 0.92), (8, 3, 0.92)])
def test_the_interval_holds_the_truth(count: int, excess: float, least: float) -> None:
    """`excess`: spread between sittings that their intervals do not know of, in theirs."""
    draws = random.Random(count)
    held = 0
    for _ in range(1000):
        logs = [
            draws.gauss(0, SHARE / 1.96) + draws.gauss(0, excess * SHARE / 1.96)
            for _ in range(count)
        ]
        pooled = pool([sitting(math.exp(value)) for value in logs])
        held += pooled.low <= 1 <= pooled.high
    assert held / 1000 >= least


def test_the_interval_of_a_report_is_that_of_its_cases() -> None:
    found = estimate_of(accepted(10, 0.01))
    assert (found.score, found.sittings) == (10, 1)
    assert found.low == pytest.approx(9.9)
    assert found.high == pytest.approx(10.1)


def test_a_report_without_a_score_has_no_estimate() -> None:
    with pytest.raises(ValueError, match="no score"):
        estimate_of(report(submission(), Verdict.CHECKED))


def accepted(microseconds: float, spread: float) -> Report:
    return report(submission(), Verdict.ACCEPTED, microseconds=microseconds, spread=spread)
