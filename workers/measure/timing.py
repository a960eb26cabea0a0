"""Time a benchmark case that was found right, and check what its timed replays computed."""

from dataclasses import dataclass

import torch

from kernels.contract import Timing, Verdict
from workers.measure import driver, physics
from workers.measure.anchor import Anchor
from workers.measure.candidate import FIRST_DRAW, Candidate, main_distribution
from workers.measure.contender import Contender
from workers.measure.correctness import Correctness, Finding
from workers.measure.estimate import Latency, centre, latency, ratio, rounds_for
from workers.measure.inputs import Inputs
from workers.measure.replay import capture
from workers.measure.rounds import ANCHOR, CANDIDATE, SELDOM, TORCH, until_sure
from workers.measure.sensors import Conditions, Watch, conditions

_SECOND_ROUNDS = 12
_SECOND_ROUNDS_IN_DOUBT = 60

_LIMIT_SHARE = 0.3
"""Of the seconds left that one case may take however slow it is."""


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
    candidate = Candidate.of(correctness, seed)
    dense = _floor(correctness, None).bound == "compute"
    anchor = bench.anchors.copy()
    if dense:
        anchor = bench.anchors.matmul(bench.request.task.flops(correctness.case))
    contenders = [candidate.contender(), anchor_contender(anchor)]
    baseline = _baseline(correctness)
    if baseline is not None:
        contenders.append(Contender(TORCH, baseline.graph.replay, every=SELDOM))
    limit = _LIMIT_SHARE * max(bench.seconds_left, 0)
    watch = Watch(bench.sensors.read)
    with bench.account.part("timing"):
        times = until_sure(
            bench.clock,
            contenders,
            anchored=anchor.published is not None,
            dense=dense,
            limit=limit,
            after_round=watch.after_round,
            before_rounds=candidate.draw_checks,
        )
    result = latency(times[CANDIDATE], seed, times[ANCHOR], anchor.published)
    state = conditions(watch.readings)
    second = _second_clock(candidate, result.seen, limit)
    timing = _timing(correctness, result, times, anchor, second, state)
    timing = timing.model_copy(update={"sensed": watch.sensed()})
    with bench.account.part("correctness"):
        finding = candidate.check()
    return Measured(timing, finding or _plausible(correctness, result.seen, second, state))


def anchor_contender(anchor: Anchor) -> Contender:
    """In every round if the score is held against it, in some otherwise."""
    return Contender(ANCHOR, anchor.graph.replay, every=1 if anchor.published else SELDOM)


def _second_clock(candidate: Candidate, seen: float, limit: float) -> float:
    """Microseconds by another clock; more rounds decide where a few make it differ."""
    correctness, clock = candidate.correctness, candidate.correctness.bench.second_clock
    stamped = clock.capture(lambda: correctness.replay.run(correctness.picks))
    most = rounds_for(2e-6 * seen, limit, (2, _SECOND_ROUNDS_IN_DOUBT), limit)
    second = 0.0
    for rounds in (_SECOND_ROUNDS, _SECOND_ROUNDS_IN_DOUBT):
        with correctness.bench.account.part("timing"):
            second = seen * clock.ratio(candidate.unwatched(), stamped, min(rounds, most))
        if physics.clocks_agree(seen, second):
            break
    return second


def _baseline(correctness: Correctness) -> _Baseline | None:
    """Torch's own version as a graph; None where torch cannot capture it."""
    bench = correctness.bench
    made = bench.make_inputs(correctness.case, main_distribution(correctness), FIRST_DRAW - 1)

    def work() -> None:
        bench.reference.baseline(*made.arguments)

    work()
    driver.synchronize()
    try:
        graph = capture(work)
    except RuntimeError:  # it allocates or waits in a way that no graph can hold
        return None
    return _Baseline(graph, made)


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
    torch_time = _torch_time(times, anchor) if TORCH in times else None
    anchored = centre(times[ANCHOR])
    seconds = result.value * 1e-6
    return Timing(
        microseconds=result.value,
        low=result.low,
        high=result.high,
        samples=tuple(round(sample, 4) for sample in times[CANDIDATE]),
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
        return centre(times[TORCH])
    return anchor.published * ratio(times[TORCH], times[ANCHOR][::SELDOM])
