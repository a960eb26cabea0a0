"""Latency and its interval from samples of many rounds, held against an anchor's where that helps.

The centre of samples is their trimmed mean: the slowest and the fastest tenth do not count. Against
single bad rounds it is as safe as a median, and it is steadier where times fall into two groups, as
those of short kernels do: in 25 cases that memory bounds, the median's interval was 1.2 times as
wide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

_RESAMPLES = 400
_INTERVAL = (2.5, 97.5)
_TRIM = 0.1
"""Share that is left out at each end."""

_MANY = 20
"""Samples from which on the trimmed mean leaves out two at each end."""

_SIGMAS = 2.0
"""Of a normal distribution's 95 % interval, and a little for small samples."""

REPEATABILITY = 0.002
"""Half width, as a share, of what differs between processes and not between rounds, such as where
memory lies. With it intervals held the median of all judgings of a plan in 95 of 100, without it
in 85 (185 judgings of 26 cases on an H200)."""

Array = NDArray[numpy.float64]


@dataclass(frozen=True)
class Latency:
    """Microseconds."""

    value: float
    """As if the anchor had taken its published time."""
    low: float
    """95 % interval, over rounds and processes."""
    high: float
    seen: float
    """As it was in this session, at the clocks of this session."""


def latency(
    samples: Sequence[float],
    seed: int,
    anchor: Sequence[float] = (),
    published: float | None = None,
) -> Latency:
    """The centre of samples; with a published time, of ratios to an anchor, times that.

    A clock that drifts moves both sides of a ratio alike. Both sequences hold one positive time per
    round, in microseconds.
    """
    logs = _logs(samples, anchor if published else ())
    rounds = numpy.random.default_rng(seed).integers(0, len(logs), (_RESAMPLES, len(logs)))
    scale = published or 1.0
    value = scale * math.exp(_trimmed(logs))
    resampled = scale * numpy.exp(_trimmed_rows(logs[rounds]))
    low, high = numpy.percentile(resampled, _INTERVAL)
    between = REPEATABILITY * value
    return Latency(
        value,
        value - math.hypot(max(value - float(low), 0.0), between),
        value + math.hypot(max(float(high) - value, 0.0), between),
        centre(samples),
    )


def centre(samples: Sequence[float]) -> float:
    """Geometric mean of the samples without the slowest and the fastest tenth."""
    return math.exp(_trimmed(_logs(samples)))


def uncertainty(samples: Sequence[float], anchor: Sequence[float] = ()) -> float:
    """Half width of the 95 % interval of the centre, or of the ratio's, as a share of it.

    From the winsorised variance (Tukey and McLaughlin), which takes no resampling.
    """
    logs = numpy.sort(_logs(samples, anchor))
    count = len(logs)
    cut = int(_TRIM * count)
    winsorised = logs.clip(logs[cut], logs[count - 1 - cut])
    spread = float(winsorised.std(ddof=1)) if count > 1 else math.inf
    return _SIGMAS * spread / ((1 - 2 * cut / count) * math.sqrt(count))


def _logs(samples: Sequence[float], anchor: Sequence[float] = ()) -> Array:
    logs = numpy.log(numpy.asarray(samples, dtype=numpy.float64))
    return logs - numpy.log(numpy.asarray(anchor, dtype=numpy.float64)) if len(anchor) else logs


def _trimmed(logs: Array) -> float:
    return float(_trimmed_rows(logs))


def _trimmed_rows(logs: Array) -> Array:
    """Trimmed means along the last axis."""
    count = logs.shape[-1]
    cut = int(_TRIM * count)
    kept = numpy.partition(logs, (cut, count - 1 - cut), axis=-1)[..., cut : count - cut]
    mean: Array = kept.mean(axis=-1)
    return mean


def ratio(samples: Sequence[float], others: Sequence[float]) -> float:
    """Centre over rounds of one time as a multiple of the other."""
    return math.exp(_trimmed(_logs(samples, others)))


def relative(times: Sequence[Sequence[float]]) -> list[list[float]]:
    """Each round's times as multiples of their geometric mean, so that rounds compare."""
    logs = numpy.log(numpy.asarray(times, dtype=numpy.float64))
    found: list[list[float]] = numpy.exp(logs - logs.mean(axis=0)).tolist()
    return found


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


def looks(first: int, growth: float, most: int) -> list[int]:
    """Counts of rounds after which to look whether they are enough; the last is `most`."""
    found = []
    count = float(first)
    while int(count) < most:
        found.append(int(count))
        count *= growth
    return [*found, most]


def survivors(times: Sequence[Sequence[float]], margin: float) -> list[int]:
    """Indexes of the sequences whose centre is within a factor of the least, fastest first.

    Of few samples, of which none could be left out, it is the median.
    """
    centres = [centre(samples) if len(samples) >= _MANY else median(samples) for samples in times]
    best = min(centres)
    order = sorted(range(len(centres)), key=lambda index: centres[index])
    return [index for index in order if centres[index] <= best * margin]
