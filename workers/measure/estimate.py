"""Latency and its interval from samples that were taken in the same rounds as an anchor's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

_RESAMPLES = 1000
_INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class Latency:
    """Microseconds."""

    value: float
    low: float
    """95 % bootstrap interval."""
    high: float


def latency(samples: Sequence[float], anchor: Sequence[float], seed: int) -> Latency:
    """Median ratio to the anchor, round by round, times the anchor's median.

    A clock that drifts moves both sides of a ratio alike; a median does not see what disturbs
    single rounds. Both sequences hold one positive time per round, in microseconds.
    """
    ratios = numpy.log(numpy.asarray(samples) / numpy.asarray(anchor))
    times = numpy.asarray(anchor, dtype=numpy.float64)
    value = float(numpy.exp(numpy.median(ratios)) * numpy.median(times))
    rounds = numpy.random.default_rng(seed).integers(0, len(times), (_RESAMPLES, len(times)))
    resampled = numpy.exp(numpy.median(ratios[rounds], axis=1))
    resampled *= numpy.median(times[rounds], axis=1)
    low, high = numpy.percentile(resampled, _INTERVAL)
    return Latency(value, min(float(low), value), max(float(high), value))


def median(samples: Sequence[float]) -> float:
    """The middle of the samples."""
    return float(numpy.median(numpy.asarray(samples)))


def rounds_for(seconds_each: float, budget: float, bounds: tuple[int, int], limit: float) -> int:
    """How many rounds fit a budget of seconds, within bounds; fixed before the first one.

    Fewer than the bounds say, but two at the least, where those would take longer than the limit.
    """
    least, most = bounds
    wanted = max(least, min(most, int(budget / max(seconds_each, 1e-9))))
    return max(2, min(wanted, int(limit / max(seconds_each, 1e-9))))


def survivors(times: Sequence[Sequence[float]], margin: float) -> list[int]:
    """Indexes of the sequences whose median is within a factor of the least, fastest first."""
    medians = [median(samples) for samples in times]
    best = min(medians)
    order = sorted(range(len(medians)), key=lambda index: medians[index])
    return [index for index in order if medians[index] <= best * margin]


def overhead_of(one: float, chain: float, length: int) -> float:
    """Constant of an event pair from the readings of one kernel and of a chain of them."""
    kernel = max((chain - one) / (length - 1), 0.0)
    return max(one - kernel, 0.0)
