import random

import pytest

from workers.measure.estimate import (
    latency,
    median,
    median_ratio,
    relative,
    rounds_for,
    survivors,
)


def drifting(ratio: float, rounds: int, seed: int) -> tuple[list[float], list[float]]:
    """Times of a kernel and an anchor whose clock falls by a fifth, with single bad rounds."""
    noise = random.Random(seed)
    kernel, anchor = [], []
    for number in range(rounds):
        slow = 100 * (1 + 0.2 * number / rounds)
        anchor.append(slow * noise.gauss(1, 0.003))
        kernel.append(ratio * slow * noise.gauss(1, 0.003) * (3 if number % 17 == 0 else 1))
    return kernel, anchor


@pytest.mark.parametrize("ratio", [0.01, 0.5, 1.0, 20.0])
def test_drift_and_bad_rounds_do_not_move_the_ratio(ratio: float) -> None:
    kernel, anchor = drifting(ratio, 100, 1)
    found = latency(kernel, anchor, 1)
    assert found.value / median(anchor) == pytest.approx(ratio, rel=0.003)
    assert found.low <= found.value <= found.high


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    inside = 0
    for trial in range(200):
        noise = random.Random(trial)
        kernel = [50 * noise.gauss(1, 0.02) for _ in range(60)]
        anchor = [100 * noise.gauss(1, 0.0001) for _ in range(60)]
        found = latency(kernel, anchor, trial)
        inside += found.low <= 50 <= found.high
    assert inside >= 180


def test_more_rounds_give_a_narrower_interval() -> None:
    few = latency(*drifting(1.0, 40, 3), 1)
    many = latency(*drifting(1.0, 4000, 3), 1)
    assert many.high - many.low < few.high - few.low


def test_no_interval_is_narrower_than_what_differs_between_processes() -> None:
    found = latency([50.0] * 4000, [100.0] * 4000, 1)
    assert found.low == pytest.approx(50 * 0.998)
    assert found.high == pytest.approx(50 * 1.002)


def test_the_same_samples_give_the_same_estimate() -> None:
    kernel, anchor = drifting(0.7, 50, 2)
    assert latency(kernel, anchor, 9) == latency(kernel, anchor, 9)


@pytest.mark.parametrize(
    ("seconds", "limit", "wanted"),
    [(0.001, 10, 120), (0.00001, 10, 200), (0.01, 10, 40), (1.0, 10, 10), (30.0, 10, 2)],
)
def test_rounds_fit_the_budget_within_their_bounds(
    seconds: float, limit: float, wanted: int
) -> None:
    assert rounds_for(seconds, 0.12, (40, 200), limit) == wanted


def test_survivors_are_near_the_best_and_fastest_first() -> None:
    times = [[2.0, 2.0, 9.0], [1.05, 1.1, 1.0], [1.0, 1.0, 1.0], [50.0, 1.3, 1.3]]
    assert survivors(times, 1.15) == [2, 1]
    assert survivors(times, float("inf")) == [2, 1, 3, 0]


def test_the_published_time_takes_the_session_out() -> None:
    for slowdown in (1.0, 1.25):
        kernel, anchor = drifting(0.7, 100, 2)
        slower = [slowdown * time for time in kernel], [slowdown * time for time in anchor]
        found = latency(*slower, 1, published=100.0)
        assert found.value == pytest.approx(70, rel=0.003)
        assert found.low <= found.value <= found.high
        assert found.seen == pytest.approx(0.7 * median(anchor) * slowdown, rel=0.003)


def test_a_drift_does_not_decide_between_configurations() -> None:
    # The GPU slows down from round to round; the second is 2 % faster in each of them.
    first = [100.0 + 10 * number for number in range(9)]
    times = [first, [0.98 * time for time in first]]
    assert survivors(relative(times), float("inf")) == [1, 0]
    assert relative(times)[0] == pytest.approx([0.98**-0.5] * 9)


def test_the_ratio_of_two_clocks_is_taken_round_by_round() -> None:
    assert median_ratio([10.0, 22.0, 30.0], [10.0, 20.0, 15.0]) == pytest.approx(1.1)
