import random

import pytest

from workers.measure.estimate import (
    centre,
    latency,
    looks,
    median,
    ratio,
    relative,
    rounds_for,
    survivors,
    uncertainty,
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


@pytest.mark.parametrize("truth", [0.01, 0.5, 1.0, 20.0])
def test_drift_and_bad_rounds_do_not_move_the_ratio(truth: float) -> None:
    kernel, anchor = drifting(truth, 100, 1)
    found = latency(kernel, 1, anchor, published=100.0)
    assert found.value / 100 == pytest.approx(truth, rel=0.003)
    assert found.low <= found.value <= found.high


def test_without_a_published_time_the_anchor_does_not_matter() -> None:
    samples = [50.0, 51.0, 49.0, 50.5] * 20
    assert latency(samples, 1, [7.0, 900.0] * 40) == latency(samples, 1)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    inside = 0
    for trial in range(200):
        noise = random.Random(trial)
        kernel = [50 * noise.lognormvariate(0, 0.02) for _ in range(60)]
        found = latency(kernel, trial)
        inside += found.low <= 50 <= found.high
    assert inside >= 180


def test_looking_at_the_width_does_not_spoil_the_interval() -> None:
    inside = stopped_early = 0
    for trial in range(200):
        noise = random.Random(trial)
        samples: list[float] = []
        for look in looks(48, 1.5, 400):
            samples += [50 * noise.lognormvariate(0, 0.012) for _ in range(look - len(samples))]
            if uncertainty(samples) <= 0.002:
                break
        stopped_early += len(samples) < 400
        found = latency(samples, trial)
        inside += found.low <= 50 <= found.high
    assert stopped_early > 150
    assert inside >= 185  # 95 %, and what is added for differences between processes


def test_more_rounds_give_a_narrower_interval() -> None:
    few = drifting(1.0, 40, 3)
    many = drifting(1.0, 4000, 3)
    for samples in (latency(few[0], 1, few[1], 100.0), latency(many[0], 1, many[1], 100.0)):
        assert samples.high > samples.low
    assert uncertainty(*many) < uncertainty(*few) / 5


def test_the_width_that_ends_the_rounds_is_that_of_the_interval() -> None:
    for seed in range(5):
        noise = random.Random(seed)
        samples = [50 * noise.lognormvariate(0, 0.03) for _ in range(100)]
        found = latency(samples, seed)
        half = (found.high - found.low) / 2 / found.value
        assert uncertainty(samples) == pytest.approx(half, rel=0.3)


def test_a_tenth_of_bad_rounds_does_not_count() -> None:
    assert centre([10.0] * 92 + [500.0] * 8) == pytest.approx(10.0)
    assert centre([10.0] * 92 + [0.1] * 8) == pytest.approx(10.0)
    assert centre([10.0, 20.0]) == pytest.approx(200**0.5)


def test_the_centre_of_two_groups_follows_their_shares() -> None:
    groups = [[33.0] * (100 + shift) + [34.5] * (100 - shift) for shift in (-4, 0, 4)]
    low, middle, high = (centre(group) for group in groups)
    assert low == pytest.approx(middle, rel=0.003)
    assert high == pytest.approx(middle, rel=0.003)


def test_no_interval_is_narrower_than_what_differs_between_processes() -> None:
    found = latency([50.0] * 4000, 1)
    assert found.low == pytest.approx(50 * 0.998)
    assert found.high == pytest.approx(50 * 1.002)


def test_the_same_samples_give_the_same_estimate() -> None:
    kernel, anchor = drifting(0.7, 50, 2)
    assert latency(kernel, 9, anchor, 100.0) == latency(kernel, 9, anchor, 100.0)


@pytest.mark.parametrize(
    ("most", "wanted"), [(400, [48, 72, 108, 162, 243, 364, 400]), (60, [48, 60]), (2, [2])]
)
def test_looks_are_fixed_beforehand(most: int, wanted: list[int]) -> None:
    assert looks(48, 1.5, most) == wanted


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
        found = latency(slower[0], 1, slower[1], published=100.0)
        assert found.value == pytest.approx(70, rel=0.003)
        assert found.low <= found.value <= found.high
        assert found.seen == pytest.approx(0.7 * median(anchor) * slowdown, rel=0.01)


def test_a_drift_does_not_decide_between_configurations() -> None:
    # The GPU slows down from round to round; the second is 2 % faster in each of them.
    first = [100.0 + 10 * number for number in range(9)]
    times = [first, [0.98 * time for time in first]]
    assert survivors(relative(times), float("inf")) == [1, 0]
    assert relative(times)[0] == pytest.approx([0.98**-0.5] * 9)


def test_the_ratio_of_two_clocks_is_taken_round_by_round() -> None:
    assert ratio([10.0, 22.0, 30.0], [10.0, 20.0, 15.0]) == pytest.approx(2.2 ** (1 / 3))
