"""Charts as numbers: each module turns a report into positions that a template draws as SVG.

Drawn by the server, so that they need no script, print, and follow the colours of the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.pages.charts.clocks import Clocks, clocks
from app.pages.charts.latency import Latencies, latencies
from app.pages.charts.roofline import Bandwidth, Roofline, bandwidth, roofline
from app.pages.charts.samples import Samples, samples
from app.pages.charts.sizes import Sizes, sizes
from kernels.contract import Report
from kernels.contract.device import Rate


@dataclass(frozen=True)
class Charts:
    """All charts of one report; what there are no figures for is None or empty."""

    roofline: Roofline | None
    bandwidth: Bandwidth | None
    latencies: Latencies | None
    sizes: Sizes | None
    samples: tuple[Samples, ...]
    clocks: tuple[Clocks, ...]


def charts_of(
    report: Report, rate: Rate, best: Mapping[str, float], house: Mapping[str, float]
) -> Charts:
    """`rate`: which unit bounds the task; `best`, `house`: microseconds of the board's first and of
    the house entry, by case."""
    return Charts(
        roofline(report, rate),
        bandwidth(report, rate),
        latencies(report, best),
        sizes(report, best, house),
        samples(report),
        clocks(report),
    )
