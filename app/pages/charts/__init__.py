"""Charts as numbers: each module turns a report into positions that a template draws as SVG.

Drawn by the server, so that they need no script, print, and follow the colours of the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.pages.charts.latency import Latencies, latencies
from app.pages.charts.roofline import Bandwidth, Roofline, bandwidth, roofline
from app.pages.charts.samples import Samples, samples
from kernels.contract import Report
from kernels.contract.device import Rate


@dataclass(frozen=True)
class Charts:
    """All charts of one report; what there are no figures for is None or empty."""

    roofline: Roofline | None
    bandwidth: Bandwidth | None
    latencies: Latencies | None
    samples: tuple[Samples, ...]


def charts_of(report: Report, rate: Rate, best: Mapping[str, float]) -> Charts:
    """`rate`: which unit bounds the task; `best`: microseconds of the board's first, by case."""
    return Charts(
        roofline(report, rate), bandwidth(report, rate), latencies(report, best), samples(report)
    )
