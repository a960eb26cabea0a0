"""Axes put values where they belong, with ticks at round values."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.charts.scales import Scale

POSITIVE = st.floats(1e-3, 1e16)


def test_a_linear_scale_is_linear() -> None:
    scale = Scale(0, 10, 100, 200)
    assert [scale(v) for v in (0, 5, 10)] == [100, 150, 200]
    assert [scale(v) for v in (-1, 11)] == [100, 200], "what is outside goes to the border"
    assert [tick.label for tick in scale.ticks(str)] == ["0.0", "2.5", "5.0", "7.5", "10.0"]


def test_a_logarithmic_scale_gives_decades_equal_room() -> None:
    scale = Scale(1, 1000, 0, 300, logarithmic=True)
    assert [scale(v) for v in (1, 10, 100, 1000)] == [0, 100, 200, 300]
    assert [tick.label for tick in scale.ticks(lambda v: f"{v:g}")] == ["1", "10", "100", "1000"]


@given(st.lists(POSITIVE, min_size=1, max_size=20), st.booleans())
def test_every_value_lies_inside_and_ticks_ascend(values: list[float], logs: bool) -> None:
    scale = Scale.powers(values, 10, 90) if logs else Scale.linear(values, 10, 90, zero=False)
    ordered = [scale(value) for value in sorted(values)]
    assert all(10 <= position <= 90 for position in ordered)
    assert ordered == sorted(ordered)
    ticks = scale.ticks(str)
    assert len(ticks) <= 9
    assert all(a.at < b.at for a, b in pairwise(ticks))


@pytest.mark.parametrize("value", [0.0, 3.5])
def test_one_value_makes_a_scale_too(value: float) -> None:
    scale = Scale.linear([value, value], 0, 10, zero=False)
    assert 0 < scale(value) < 10
