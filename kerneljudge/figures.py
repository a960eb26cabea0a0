"""Numbers as people read them, and what two submissions' figures say about each other."""

from collections.abc import Iterable
from math import exp, log
from typing import NamedTuple

from kerneljudge.payloads import CaseResult, Report, Timing


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


class Ratio(NamedTuple):
    """How much longer one case takes in the second of two reports."""

    case: str
    first: Timing
    second: Timing

    @property
    def ratio(self) -> float:
        """Above 1: the second is slower."""
        return self.second.microseconds / self.first.microseconds

    @property
    def low(self) -> float:
        """Lower end, from the far ends of both 95 % intervals: a cautious interval."""
        return self.second.low / self.first.high

    @property
    def high(self) -> float:
        """Upper end."""
        return self.second.high / self.first.low

    @property
    def verdict(self) -> str:
        """`slower`, `faster`, or `same` where the interval holds 1."""
        if self.low > 1:
            return "slower"
        return "faster" if self.high < 1 else "same"


def ratios(first: Report, second: Report) -> list[Ratio]:
    """Of the benchmark cases that both have, in the order of the first."""
    others = {case.case: case for case in second.cases}
    found = []
    for case in first.cases:
        timing, other = case.timing, _timing(others.get(case.case))
        if timing and other:
            found.append(Ratio(case.case, timing, other))
    return found


def _timing(case: CaseResult | None) -> Timing | None:
    return None if case is None else case.timing
