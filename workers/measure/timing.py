"""Time a benchmark case that was found right, and check what its timed replays computed."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from kernels.contract import Distribution, Timing, Verdict
from workers.measure import driver, physics
from workers.measure.anchor import Anchor
from workers.measure.bench import Bench
from workers.measure.clock import Clock, Contender, Race
from workers.measure.correctness import Correctness, Finding
from workers.measure.estimate import (
    Latency,
    centre,
    latency,
    looks,
    ratio,
    rounds_for,
    uncertainty,
)
from workers.measure.inputs import Inputs
from workers.measure.memory import NAN
from workers.measure.replay import capture
from workers.measure.sensors import Conditions, Reading, conditions

_FIRST_ROUND = 100
"""Inputs of timed replays come from rounds that no other run uses; the baseline's from the one
before them, so that its results are no candidate's answers."""

_FIRST_LOOK, _LOOK_GROWTH = 48, 1.5
_MOST_ROUNDS = 400
ENOUGH = 0.002
"""Half width of the interval over rounds, as a share, at which a look ends the rounds: as much as
differs between processes anyway."""

_BUDGET = 0.15
"""Seconds of a case's rounds, unless the first look takes longer."""

_DENSE_WARM_UP = 0.12
"""Seconds, in a case that arithmetic bounds: dense work lets a GPU cap its power after 60 to
100 ms, and while it does so times move by a tenth."""

_SELDOM = 3
"""Torch's version, and an anchor that no score is held against, run every third round."""

_SECOND_ROUNDS = 12
_SECOND_ROUNDS_IN_DOUBT = 60

_CHECKS_AT_FIRST = 2
"""Timed replays before the first look whose results are checked; behind it one before each."""

_LIMIT_SHARE = 0.3
"""Of the seconds left that one case may take however slow it is."""

_INPUT_SETS = (2, 3)
_INPUT_SETS_BYTES = 4 << 30
_NVML_EVERY = 8
"""Rounds."""


@dataclass
class _Kept:
    """Results of one timed replay, for a later check."""

    inputs: int
    outputs: tuple[Tensor, ...]
    finding: Finding | None


@dataclass
class _Candidate:
    """The plan as a contender: fresh inputs and poison before, sometimes a look after."""

    correctness: Correctness
    images: list[Tensor]
    random: random.Random
    graph: torch.cuda.CUDAGraph
    checked: set[int] = field(default_factory=set)
    kept: list[_Kept] = field(default_factory=list)
    current: int = 0

    def contender(self) -> Contender:
        """To race."""
        return Contender("candidate", self.graph.replay, self.prepare, self._finish)

    def draw_checks(self, first: int, end: int) -> None:
        """Choose the replays, among those of rounds to come, whose results are looked at."""
        count = _CHECKS_AT_FIRST if first == 0 else 1
        self.checked |= set(self.random.sample(range(first, end), min(count, end - first)))

    def prepare(self, _: int) -> None:
        """Put one of the input sets in place and poison the rest."""
        memory = self.correctness.replay.memory
        self.current = self.random.randrange(len(self.images))
        memory.load(self.images[self.current])
        memory.restore_constants()
        memory.poison(self.random.choice((NAN, self.random.randrange(256))))

    def _finish(self, number: int) -> None:
        if number in self.checked:
            driver.synchronize()  # a look at memory would wait for ever
            finding = self.correctness.inspect(self.images[self.current])
            self.kept.append(_Kept(self.current, self.correctness.outputs(), finding))


@dataclass(frozen=True)
class _Baseline:
    """Torch's version as a graph, and the inputs it reads."""

    graph: torch.cuda.CUDAGraph
    inputs: Inputs


@dataclass(frozen=True)
class Measured:
    """What timing a case gave."""

    timing: Timing
    finding: Finding | None
    """Why it does not count."""


def measure(correctness: Correctness) -> Measured:
    """Race the plan against an anchor and torch; everything must have run once before."""
    bench = correctness.bench
    seed = bench.seed("timing", correctness.case.name)
    candidate = _Candidate(
        correctness,
        _input_sets(correctness),
        random.Random(seed),
        correctness.replay.capture(correctness.picks),
    )
    dense = _floor(correctness, None).bound == "compute"
    anchor = bench.anchors.copy()
    if dense:
        anchor = bench.anchors.matmul(bench.request.task.flops(correctness.case))
    contenders = [candidate.contender(), anchor_contender(anchor)]
    baseline = _baseline(correctness)
    if baseline is not None:
        contenders.append(Contender("torch", baseline.graph.replay, every=_SELDOM))
    limit = _LIMIT_SHARE * max(bench.seconds_left, 0)
    readings: list[Reading] = []
    with bench.account.part("timing"):
        times = race(
            bench.clock, contenders, anchor, dense, limit,
            _reader(bench, readings), candidate.draw_checks,
        )  # fmt: skip
    result = latency(times["candidate"], seed, times["anchor"], anchor.published)
    state = conditions(readings)
    second = _second_clock(candidate, result.seen, limit)
    timing = _timing(correctness, result, times, anchor, second, state)
    finding = _check(candidate) or _plausible(correctness, result.seen, second, state)
    return Measured(timing, finding)


def anchor_contender(anchor: Anchor) -> Contender:
    """In every round if the score is held against it, in some otherwise."""
    return Contender("anchor", anchor.graph.replay, every=1 if anchor.published else _SELDOM)


def race(
    clock: Clock,
    contenders: Sequence[Contender],
    anchor: Anchor,
    dense: bool,
    limit: float,
    after_round: Callable[[], None] = lambda: None,
    before_rounds: Callable[[int, int], None] = lambda _, __: None,
) -> dict[str, list[float]]:
    """Warm up, then run rounds until the candidate's time is known well enough, looking now and
    then; `limit` is the most seconds for either. `before_rounds` is told which come next.
    """
    each = clock.warm_up(contenders, min(_DENSE_WARM_UP if dense else 0.0, limit))
    most = rounds_for(each, _BUDGET, (_FIRST_LOOK, _MOST_ROUNDS), limit)
    rounds = Race()
    done = 0
    for look in looks(_FIRST_LOOK, _LOOK_GROWTH, most):
        before_rounds(done, look)
        rounds.extend(clock.race(contenders, look - done, after_round, first=done))
        done = look
        held_against = rounds.times["anchor"] if anchor.published else ()
        if uncertainty(rounds.times["candidate"], held_against) <= ENOUGH:
            break
    return rounds.times


def _second_clock(candidate: _Candidate, seen: float, limit: float) -> float:
    """Microseconds by another clock; more rounds decide where a few make it differ."""
    correctness, clock = candidate.correctness, candidate.correctness.bench.second_clock
    stamped = clock.capture(lambda: correctness.replay.run(correctness.picks))
    first = Contender("candidate", candidate.graph.replay, candidate.prepare)
    most = rounds_for(2e-6 * seen, limit, (2, _SECOND_ROUNDS_IN_DOUBT), limit)
    second = 0.0
    for rounds in (_SECOND_ROUNDS, _SECOND_ROUNDS_IN_DOUBT):
        with correctness.bench.account.part("timing"):
            second = seen * clock.ratio(first, stamped, min(rounds, most))
        if physics.clocks_agree(seen, second):
            break
    return second


def main_distribution(correctness: Correctness) -> Distribution:
    """The one that is timed."""
    return correctness.bench.request.task.distributions[0]


def _input_sets(correctness: Correctness) -> list[Tensor]:
    def image(number: int) -> Tensor:
        made = correctness.bench.make_inputs(
            correctness.case, main_distribution(correctness), _FIRST_ROUND + number
        )
        return correctness.replay.memory.image(made.buffers)

    first = image(0)
    fewest, most = _INPUT_SETS
    count = max(fewest, min(most, _INPUT_SETS_BYTES // max(first.numel(), 1)))
    return [first, *(image(number) for number in range(1, count))]


def _baseline(correctness: Correctness) -> _Baseline | None:
    """Torch's own version as a graph; None where torch cannot capture it."""
    bench = correctness.bench
    made = bench.make_inputs(correctness.case, main_distribution(correctness), _FIRST_ROUND - 1)

    def work() -> None:
        bench.reference.baseline(*made.arguments)

    work()
    driver.synchronize()
    try:
        graph = capture(work)
    except RuntimeError:  # it allocates or waits in a way that no graph can hold
        return None
    return _Baseline(graph, made)


def _reader(bench: Bench, readings: list[Reading]) -> Callable[[], None]:
    """Reads the sensors every few rounds."""
    calls = 0

    def read() -> None:
        nonlocal calls
        if calls % _NVML_EVERY == 0:
            reading = bench.sensors.read()
            if reading is not None:
                readings.append(reading)
        calls += 1

    return read


def _check(candidate: _Candidate) -> Finding | None:
    """Whether the timed replays that were kept are right."""
    correctness = candidate.correctness
    distribution = main_distribution(correctness)
    with correctness.bench.account.part("correctness"):
        for number, group in _by_inputs(candidate.kept):
            finding = next((kept.finding for kept in group if kept.finding), None)
            finding = finding or correctness.judge_runs(
                [kept.outputs for kept in group], distribution, _FIRST_ROUND + number
            )
            if finding is not None:
                reason = f"in a timed replay: {finding.reason}"[:500]
                return Finding(finding.verdict, reason, finding.mismatch)
    return None


def _by_inputs(kept: Sequence[_Kept]) -> list[tuple[int, list[_Kept]]]:
    """The replays that had the same inputs together, since they share a reference."""
    numbers = sorted({replay.inputs for replay in kept})
    return [(number, [one for one in kept if one.inputs == number]) for number in numbers]


def _floor(correctness: Correctness, clock_hz: float | None) -> physics.Floor:
    task, case = correctness.bench.request.task, correctness.case
    return physics.floor(
        correctness.bench.device, task.flops(case), task.bytes(case), task.cost.rate, clock_hz
    )


def _plausible(
    correctness: Correctness, microseconds: float, second: float, state: Conditions
) -> Finding | None:
    task, case = correctness.bench.request.task, correctness.case
    limit = physics.impossible_below(
        correctness.bench.device,
        task.flops(case),
        task.bytes(case),
        task.cost.rate,
        state.highest_clock_hz,
    )
    reason = ""
    if microseconds < limit:
        reason = f"{microseconds:.2f} us is less than the {limit:.2f} us that the hardware needs"
    elif not physics.clocks_agree(microseconds, second):
        reason = f"two clocks disagree: {microseconds:.2f} and {second:.2f} us"
    return Finding(Verdict.IMPLAUSIBLE, reason) if reason else None


def _timing(
    correctness: Correctness,
    result: Latency,
    times: dict[str, list[float]],
    anchor: Anchor,
    second: float,
    state: Conditions,
) -> Timing:
    task, case = correctness.bench.request.task, correctness.case
    floor = _floor(correctness, state.clock_hz)
    torch_time = _torch_time(times, anchor) if "torch" in times else None
    anchored = centre(times["anchor"])
    seconds = result.value * 1e-6
    return Timing(
        microseconds=result.value,
        low=result.low,
        high=result.high,
        samples=tuple(round(sample, 4) for sample in times["candidate"]),
        torch_microseconds=torch_time,
        flops_per_second=task.flops(case) / seconds,
        bytes_per_second=task.bytes(case) / seconds,
        floor_microseconds=floor.microseconds,
        roofline=floor.microseconds / result.seen,
        bound=floor.bound,
        clock_hz=state.clock_hz,
        power_watts=state.power_watts,
        throttled=state.throttled,
        anchor=anchor.name,
        anchor_microseconds=anchored,
        ceiling=anchor.amount / anchored * 1e6,
        reached=_reached(correctness, result.seen, state.clock_hz),
        constant_microseconds=correctness.bench.clock.overhead,
        second_microseconds=second,
    )


def _reached(correctness: Correctness, seen: float, clock_hz: float | None) -> float | None:
    """Share of what the GPU did when its worker started."""
    ceilings = correctness.bench.request.ceilings
    if ceilings is None:
        return None
    task, case = correctness.bench.request.task, correctness.case
    floor = ceilings.floor(task.flops(case), task.bytes(case), task.cost.rate, clock_hz)
    return None if floor is None else floor / seen


def _torch_time(times: dict[str, list[float]], anchor: Anchor) -> float:
    if anchor.published is None:
        return centre(times["torch"])
    return anchor.published * ratio(times["torch"], times["anchor"][::_SELDOM])
