"""Numbers as people read them."""

from collections.abc import Iterable
from math import exp, log

from kerneljudge.payloads import Report, Timing


def microseconds(value: float) -> str:
    """Four digits: `2.310`, `46.70`, `1504`."""
    digits = max(0, min(3, 3 - len(str(int(value))) + 1))
    return f"{value:.{digits}f}"


def interval(timing: Timing) -> str:
    """Half the 95 % interval, in percent of the time."""
    return f"± {(timing.high - timing.low) / 2 / timing.microseconds * 100:.2f} %"


def rate(timing: Timing) -> str:
    """TFLOP/s where the case counts FLOPs, and GB/s."""
    parts = [f"{timing.bytes_per_second / 1e9:.0f} GB/s"]
    if timing.flops_per_second:
        parts.insert(0, f"{timing.flops_per_second / 1e12:.0f} TFLOP/s")
    return ", ".join(parts)


def geometric_mean(values: Iterable[float]) -> float | None:
    """None of nothing."""
    logs = [log(value) for value in values]
    return exp(sum(logs) / len(logs)) if logs else None


def speedup(report: Report) -> float | None:
    """Geometric mean of the times faster than torch, over the benchmark cases that say it."""
    timed = (case.timing for case in report.cases if case.timing)
    return geometric_mean(t.speedup for t in timed if t.speedup)
