"""Charts of reports that an H200 gave: every case is there, and stands where its figures say."""

import re
from pathlib import Path

import pytest

from app.pages.charts import Charts, charts_of
from app.pages.charts.clocks import clocks
from app.pages.charts.overlay import BOTTOM, TOP, overlays
from app.pages.charts.roofline import BAR_LEFT
from kernels.contract import CaseResult, Report, Sensed

REPORTS = Path(__file__).parents[2] / "data" / "reports" / "h200"


def report(name: str) -> Report:
    return Report.model_validate_json((REPORTS / f"{name}.json").read_bytes())


@pytest.fixture(scope="module")
def matmul() -> Charts:
    return charts_of(report("matmul-accepted-persistent"), "tensor16", {}, {})


def test_points_lie_below_the_roof_of_the_datasheet(matmul: Charts) -> None:
    assert matmul.roofline is not None
    points = {point.case: point for point in matmul.roofline.points}
    assert set(points) == {"square_4096", "square_8192", "short_sum", "layer_512", "layer_16"}
    (roof,) = matmul.roofline.roofs
    flat = roof.line[-1][1]
    assert all(point.y > flat for point in points.values()), "positions grow downwards"
    knee = roof.line[1][0]
    assert points["layer_16"].x < knee < points["square_8192"].x
    assert "738 TFLOP/s" in points["square_4096"].label


def test_names_of_points_do_not_meet(matmul: Charts) -> None:
    assert matmul.roofline is not None
    points = matmul.roofline.points
    for number, one in enumerate(points):
        for other in points[:number]:
            beside = abs(one.name_x - other.name_x) >= 3.5 * (len(one.case) + len(other.case))
            assert beside or abs(one.name_y - other.name_y) >= 14


def test_a_task_without_flops_has_bars_of_bandwidth() -> None:
    charts = charts_of(report("softmax-accepted-fused"), "fp32", {}, {})
    assert charts.roofline is None
    assert charts.bandwidth is not None
    bars = {bar.case: bar.width for bar in charts.bandwidth.bars}
    assert bars["single_precision"] > bars["vocabulary_128256"] > 0
    ((kind, _, at),) = charts.bandwidth.limits
    assert kind == "datasheet"
    assert max(bars.values()) + BAR_LEFT < at


def test_faster_than_torch_lies_to_its_right_and_the_best_is_marked() -> None:
    best = {"square_8192": 1500.0}
    charts = charts_of(report("matmul-accepted-persistent"), "tensor16", best, {})
    assert charts.latencies is not None
    rows = {row.case: row for row in charts.latencies.rows}
    assert rows["square_8192"].x > charts.latencies.torch > rows["layer_512"].x
    assert all(row.low <= row.x <= row.high for row in rows.values())
    assert (rows["square_8192"].best or 0) > rows["square_8192"].x
    assert rows["layer_512"].best is None


def test_samples_are_drawn_in_order_and_counted(matmul: Charts) -> None:
    case = next(case for case in matmul.samples if case.case == "short_sum")
    assert case.count == 200
    assert case.series.count("L") == 199
    assert max(band.width for band in case.bands) == 84


def test_what_was_not_measured_has_no_charts() -> None:
    charts = charts_of(report("softmax-wrong_answer-no_maximum"), "fp32", {}, {})
    assert charts == Charts(None, None, None, None, (), ())


def test_lines_over_size_go_through_the_cases_from_the_smallest_on() -> None:
    known = report("matmul-accepted-persistent")
    charts = charts_of(known, "tensor16", {"square_8192": 1500.0}, {"layer_16": 9.0})
    assert charts.sizes is not None
    rate, latency = charts.sizes.rate, charts.sizes.latency
    assert (charts.sizes.size, rate.unit, latency.unit) == ("FLOPs", "TFLOP/s", "µs")
    lines = {series.name: series for series in latency.series}
    assert set(lines) == {"this", "torch", "best", "house"}
    own = [dot.x for dot in lines["this"].dots]
    assert own == sorted(own)
    assert len(own) == 5
    assert lines["this"].dots[0].label.startswith("layer_16")
    assert [len(lines[name].dots) for name in ("best", "house")] == [1, 1]
    fastest = max(known.cases, key=lambda c: c.timing.flops_per_second if c.timing else 0)
    highest = min(rate.series[0].dots, key=lambda dot: dot.y)
    assert highest.label.startswith(fastest.case), "positions grow downwards"


def test_clocks_are_drawn_over_the_rounds() -> None:
    known = report("matmul-accepted-persistent")
    case = next(case for case in known.cases if case.timing)
    rates = (1.98e9, 1.755e9, 1.755e9)
    sensed = tuple(
        Sensed(round=8 * n, clock_hz=rate, power_watts=600.0 + n) for n, rate in enumerate(rates)
    )
    assert case.timing is not None
    timing = case.timing.model_copy(update={"sensed": sensed})
    cases = (case.model_copy(update={"timing": timing}),)
    (drawn,) = clocks(known.model_copy(update={"cases": cases}))
    assert (drawn.case, drawn.count, drawn.rounds) == (case.case, 3, 17)
    assert (drawn.lowest, drawn.highest, drawn.highest_power) == (1755, 1980, 602)
    ends = drawn.line.removeprefix("M").split(" L")
    assert ends[0].startswith("52")
    assert ends[-1].startswith("352")


def test_histograms_lie_over_each_other_on_the_same_axes() -> None:
    fast = report("softmax-accepted-fused")
    slow = fast.model_copy(update={"cases": tuple(map(_slower, fast.cases))})
    for case in overlays(fast, slow):
        first, second = _heights(case.first), _heights(case.second)
        assert len(first) == len(second)
        assert max(max(first), max(second)) == BOTTOM - TOP
        assert sum(n * h for n, h in enumerate(first)) < sum(n * h for n, h in enumerate(second))
        assert sum(first) == pytest.approx(sum(second), rel=0.05), "as many samples in both"
    assert [case.first == case.second for case in overlays(fast, fast)] == [True] * 7


def _slower(case: CaseResult) -> CaseResult:
    if case.timing is None:
        return case
    samples = tuple(1.02 * value for value in case.timing.samples)
    return case.model_copy(update={"timing": case.timing.model_copy(update={"samples": samples})})


def _heights(path: str) -> list[float]:
    return [BOTTOM - float(y) for y in re.findall(r"V([\d.]+)H", path)]
