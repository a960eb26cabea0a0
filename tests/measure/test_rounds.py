"""When rounds end, with a clock of paper in place of a GPU."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from workers.measure.contender import Contender, Race
from workers.measure.rounds import FIRST_LOOK, MOST, SELDOM, until_sure


class PaperClock:
    """Times that are drawn: 100 us with noise, times a drift that all share."""

    def __init__(self, noise: float, each: float = 1e-4, drift: float = 0.0) -> None:
        self._random = random.Random(7)
        self._noise, self._each, self._drift = noise, each, drift
        self.warmed = 0.0

    def warm_up(self, _: Sequence[Contender], seconds: float = 0.0) -> float:
        """Seconds that a round takes."""
        self.warmed = seconds
        return self._each

    def race(
        self,
        contenders: Sequence[Contender],
        rounds: int,
        after_round: Callable[[], None],
        first: int = 0,
    ) -> Race:
        """As Clock.race, without replaying anything."""
        race = Race({contender.name: [] for contender in contenders})
        for number in range(first, first + rounds):
            slow = 100 * (1 + self._drift * self._random.random())
            for contender in contenders:
                if number % contender.every == 0:
                    time = slow * self._random.lognormvariate(0, self._noise)
                    race.times[contender.name].append(time)
            after_round()
        return race


def contenders(anchor_every: int) -> list[Contender]:
    return [
        Contender("candidate", lambda: None),
        Contender("anchor", lambda: None, every=anchor_every),
        Contender("torch", lambda: None, every=SELDOM),
    ]


def rounds(clock: Any, anchored: bool = False, **more: Any) -> dict[str, list[float]]:
    options: dict[str, Any] = {"dense": anchored, "limit": 10.0} | more
    field = contenders(1 if anchored else SELDOM)
    return until_sure(clock, field, anchored=anchored, **options)


def test_quiet_kernels_end_at_the_first_look_and_restless_ones_at_the_last() -> None:
    assert len(rounds(PaperClock(0.003))["candidate"]) == FIRST_LOOK
    assert len(rounds(PaperClock(0.05))["candidate"]) == MOST


def test_rounds_end_only_at_a_look() -> None:
    counts = {len(rounds(PaperClock(noise / 1000))["candidate"]) for noise in range(4, 30)}
    assert counts <= {48, 72, 108, 162, 243, 364, 400}
    assert len(counts) > 4


def test_a_drift_that_the_anchor_shares_takes_no_rounds() -> None:
    assert len(rounds(PaperClock(0.003, drift=0.1), anchored=True)["candidate"]) == FIRST_LOOK
    assert len(rounds(PaperClock(0.003, drift=0.1))["candidate"]) > FIRST_LOOK


def test_dense_work_is_warmed_up_and_other_work_is_not() -> None:
    for anchored, seconds in ((True, 0.12), (False, 0.0)):
        clock = PaperClock(0.003)
        rounds(clock, anchored)
        assert clock.warmed == seconds


def test_others_run_every_third_round() -> None:
    times = rounds(PaperClock(0.003))
    assert len(times["torch"]) == len(times["anchor"]) == FIRST_LOOK / SELDOM
    times = rounds(PaperClock(0.003), anchored=True)
    assert len(times["anchor"]) == FIRST_LOOK


@pytest.mark.parametrize(
    ("each", "limit", "most"), [(1e-3, 10.0, 150), (1.0, 10.0, 10), (20.0, 10.0, 2)]
)
def test_slow_rounds_are_fewer(each: float, limit: float, most: int) -> None:
    assert len(rounds(PaperClock(0.05, each), limit=limit)["candidate"]) == most


def test_whoever_checks_is_told_which_rounds_come() -> None:
    told: list[tuple[int, int]] = []
    rounds(PaperClock(0.05), before_rounds=lambda first, end: told.append((first, end)))
    assert told[:2] == [(0, 48), (48, 72)]
    assert told[-1] == (364, 400)


def test_the_sensors_can_be_read_in_every_round() -> None:
    calls: list[None] = []
    rounds(PaperClock(0.003), after_round=lambda: calls.append(None))
    assert len(calls) == FIRST_LOOK
