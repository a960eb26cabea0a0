"""How many rounds: fixed looks, and an interval that is narrow enough. See docs/timing.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workers.measure.contender import Contender, Race
from workers.measure.estimate import looks, rounds_for, uncertainty

if TYPE_CHECKING:  # it needs the driver's bindings, counting does not
    from workers.measure.clock import Clock

CANDIDATE, ANCHOR, TORCH = "candidate", "anchor", "torch"
"""Names of the contenders."""

SELDOM = 3
"""Torch's version, and an anchor that no score is held against, run every third round."""

FIRST_LOOK, _LOOK_GROWTH = 48, 1.5
MOST = 400
ENOUGH = 0.002
"""Half width of the interval over rounds, as a share, at which a look ends the rounds: as much as
differs between processes anyway."""

_BUDGET = 0.15
"""Seconds of a case's rounds, unless the first look takes longer."""

_DENSE_WARM_UP = 0.12
"""Seconds, in a case that arithmetic bounds: dense work lets a GPU cap its power after 60 to
100 ms, and while it does so times move by a tenth."""


def until_sure(
    clock: Clock,
    contenders: Sequence[Contender],
    *,
    anchored: bool,
    dense: bool,
    limit: float,
    after_round: Callable[[], None] = lambda: None,
    before_rounds: Callable[[int, int], None] = lambda _, __: None,
) -> dict[str, list[float]]:
    """Microseconds by contender: rounds until the candidate's time is known well enough.

    `anchored` if what counts is its ratio to the anchor; `limit` is the most seconds for the
    warm-up and for the rounds; `before_rounds` is told the first round to come and the next look.
    """
    each = clock.warm_up(contenders, min(_DENSE_WARM_UP if dense else 0.0, limit))
    most = rounds_for(each, _BUDGET, (FIRST_LOOK, MOST), limit)
    rounds = Race()
    done = 0
    for look in looks(FIRST_LOOK, _LOOK_GROWTH, most):
        before_rounds(done, look)
        rounds.extend(clock.race(contenders, look - done, after_round, first=done))
        done = look
        held_against = rounds.times[ANCHOR] if anchored else ()
        if uncertainty(rounds.times[CANDIDATE], held_against) <= ENOUGH:
            break
    return rounds.times
