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
from workers.measure.clock import Clock, Contender
from workers.measure.correctness import Correctness, Finding
from workers.measure.estimate import Latency, latency, median, rounds_for
from workers.measure.inputs import Inputs
from workers.measure.memory import NAN
from workers.measure.replay import capture
from workers.measure.sensors import Conditions, Reading, conditions

_FIRST_ROUND = 100
"""Inputs of timed replays come from rounds that no other run uses; the baseline's from the one
before them, so that its results are no candidate's answers."""

_BUDGET = 0.12
"""Seconds of one case: more than 100 rounds unless the kernel takes over 0.3 ms."""

_DENSE_BUDGET = 0.25
_DENSE_WARM_UP = 0.12
"""Seconds of a case that arithmetic bounds: dense work lets a GPU cap its power after 60 to 100 ms,
and while it does so times move by a tenth."""

_SECOND_ROUNDS = (12, 24)
_SECOND_BUDGET = 0.04

_ROUNDS = (40, 200)
"""Fewest and most; 40 rounds kept the ratio of a kernel to itself within 0.2 %."""

_LIMIT_SHARE = 0.3
"""Of the seconds left that one case may take however slow it is."""

_INPUT_SETS = (2, 4)
_INPUT_SETS_BYTES = 4 << 30
_NVML_READINGS = 12


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
    contenders = [candidate.contender(), Contender("anchor", anchor.graph.replay)]
    baseline = _baseline(correctness)
    if baseline is not None:
        contenders.append(Contender("torch", baseline.graph.replay))
    limit = _LIMIT_SHARE * max(bench.seconds_left, 0)
    rounds = rounds_of(bench.clock, contenders, dense, limit)
    candidate.checked = {rounds - 1, *candidate.random.sample(range(rounds), 2)}
    readings: list[Reading] = []
    times = bench.clock.race(contenders, rounds, _reader(bench, rounds, readings)).times
    result = latency(times["candidate"], times["anchor"], seed, anchor.published)
    each = 1e-6 * sum(median(samples) for samples in times.values())
    second = result.seen * _second_clock(
        candidate, rounds_for(each, _SECOND_BUDGET, _SECOND_ROUNDS, limit)
    )
    state = conditions(readings)
    timing = _timing(correctness, result, times, anchor, second, state)
    finding = _check(candidate) or _plausible(correctness, result.seen, second, state)
    return Measured(timing, finding)


def rounds_of(clock: Clock, contenders: Sequence[Contender], dense: bool, limit: float) -> int:
    """Warm up, then settle how many rounds count; `limit` is the most seconds for either."""
    each = clock.warm_up(contenders, min(_DENSE_WARM_UP if dense else 0.0, limit))
    return rounds_for(each, _DENSE_BUDGET if dense else _BUDGET, _ROUNDS, limit)


def _second_clock(candidate: _Candidate, rounds: int) -> float:
    """What another clock reads, as a multiple of what the first does in the same rounds."""
    correctness, clock = candidate.correctness, candidate.correctness.bench.second_clock
    stamped = clock.capture(lambda: correctness.replay.run(correctness.picks))
    first = Contender("candidate", candidate.graph.replay, candidate.prepare)
    return clock.ratio(first, stamped, rounds)


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


def _reader(bench: Bench, rounds: int, readings: list[Reading]) -> Callable[[], None]:
    """Reads the sensors every few rounds."""
    every = max(rounds // _NVML_READINGS, 1)
    calls = 0

    def read() -> None:
        nonlocal calls
        calls += 1
        if calls % every == 0:
            reading = bench.sensors.read()
            if reading is not None:
                readings.append(reading)

    return read


def _check(candidate: _Candidate) -> Finding | None:
    """Whether the timed replays that were kept are right."""
    distribution = main_distribution(candidate.correctness)
    for kept in candidate.kept:
        finding = kept.finding or candidate.correctness.judge(
            kept.outputs, distribution, _FIRST_ROUND + kept.inputs
        )
        if finding is not None:
            reason = f"in a timed replay: {finding.reason}"[:500]
            return Finding(finding.verdict, reason, finding.mismatch)
    return None


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
    torch_time = None
    if "torch" in times:
        torch_time = latency(times["torch"], times["anchor"], 0, anchor.published).value
    anchored = median(times["anchor"])
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
        second_microseconds=second,
    )
