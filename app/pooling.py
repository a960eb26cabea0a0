"""One estimate of a plan's score from all of its sittings. The reasons are in docs/ranking.md."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernels.contract import Report

_Z = 1.96
"""Half width of a 95 % interval in standard deviations."""

_STUDENT = (3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Student's 97.5 % points for 3 to 10 degrees of freedom: what stands in for `_Z` where sittings
lie further apart than their intervals say, and few of them tell how far. Two degrees are granted
to what the intervals say."""

_EXACT = 1e-6
"""Least half width of a log score: an interval of no width would outweigh all others."""


@dataclass(frozen=True)
class Estimate:
    """A score with its 95 % interval, in microseconds."""

    score: float
    low: float
    high: float
    sittings: int = 1
    """How many measurements it rests on."""


def estimate_of(report: Report) -> Estimate:
    """The score of one sitting; ValueError for a report without a score.

    The interval reaches from the geometric mean of the benchmark cases' lower ends to that of
    their upper ends, as if all cases erred in the same direction: what differs between processes
    may well move all of them.
    """
    if report.score is None:
        raise ValueError("the report has no score")
    timings = [case.timing for case in report.cases if case.kind == "benchmark" and case.timing]
    low = _geometric_mean([timing.low for timing in timings], report.score)
    high = _geometric_mean([timing.high for timing in timings], report.score)
    return Estimate(report.score, min(low, report.score), max(high, report.score))


def pool(sittings: Sequence[Estimate]) -> Estimate:
    """The score over several sittings of one plan; a single one is returned as it is.

    Log scores are averaged, each weighted by its own variance and by that between sittings, which
    is estimated by the method of moments (DerSimonian and Laird) and never below zero. ValueError
    if there are none.
    """
    if not sittings:
        raise ValueError("there is no sitting")
    if len(sittings) == 1:
        return sittings[0]
    logs = [math.log(sitting.score) for sitting in sittings]
    variances = [_variance(sitting) for sitting in sittings]
    between = _between(logs, variances)
    mean, variance = _weighted(logs, [v + between for v in variances])
    half = _quantile(len(sittings), between) * math.sqrt(variance)
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(sittings))


def _quantile(sittings: int, between: float) -> float:
    return _STUDENT[min(sittings, len(_STUDENT) + 1) - 2] if between else _Z


def _variance(sitting: Estimate) -> float:
    """Of the log score; the wider side of the interval counts."""
    low, high = math.log(sitting.score / sitting.low), math.log(sitting.high / sitting.score)
    return (max(low, high, _EXACT) / _Z) ** 2


def _weighted(values: Sequence[float], variances: Sequence[float]) -> tuple[float, float]:
    """Mean with inverse variances as weights, and its variance."""
    weights = [1 / variance for variance in variances]
    mean = sum(w * value for w, value in zip(weights, values, strict=True)) / sum(weights)
    return mean, 1 / sum(weights)


def _between(values: Sequence[float], variances: Sequence[float]) -> float:
    """Variance between sittings beyond what their own intervals explain."""
    mean, _ = _weighted(values, variances)
    weights = [1 / variance for variance in variances]
    seen = sum(w * (value - mean) ** 2 for w, value in zip(weights, values, strict=True))
    scale = sum(weights) - sum(w * w for w in weights) / sum(weights)
    return max(0.0, (seen - (len(values) - 1)) / scale)


def _geometric_mean(values: Sequence[float], otherwise: float) -> float:
    if not values:
        return otherwise
    return math.exp(sum(map(math.log, values)) / len(values))
