"""Axes: from values to positions in a drawing, with ticks at round values."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Self

_STEPS = (1, 2, 2.5, 5, 10)
_FEWEST, _MOST = 2, 7


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    """Position in the drawing."""
    label: str


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` onto positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    @classmethod
    def linear(cls, values: Iterable[float], start: float, end: float, *, zero: bool) -> Self:
        """From the values' smallest, or from zero, to a little beyond their largest."""
        known = list(values)
        low, high = min(known), max(known)
        margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
        return cls(0.0 if zero else low - margin, high + margin, start, end)

    @classmethod
    def powers(cls, values: Iterable[float], start: float, end: float) -> Self:
        """Logarithmic, over all positive values, with a third of a decade beside them."""
        known = [value for value in values if value > 0]
        return cls(min(known) / 2, max(known) * 2, start, end, logarithmic=True)

    def __call__(self, value: float) -> float:
        """The position of a value, rounded to a hundredth; values outside go to the border."""
        value = min(max(value, self.low), self.high)
        share = self._share(value)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, label: Callable[[float], str]) -> tuple[Tick, ...]:
        """At round values."""
        values = self._powers() if self.logarithmic else self._round_values()
        return tuple(Tick(self(value), label(value)) for value in values)

    def _share(self, value: float) -> float:
        if self.logarithmic:
            return log10(value / self.low) / log10(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def _round_values(self) -> list[float]:
        step = _step((self.high - self.low) / 4)
        first = ceil(self.low / step - 1e-9)
        return [n * step for n in range(first, floor(self.high / step + 1e-9) + 1)]

    def _powers(self) -> list[float]:
        found: list[float] = []
        for factors in ((1,), (1, 3), (1, 2, 5)):
            found = [v for v in self._multiples(factors) if self.low <= v <= self.high]
            if len(found) > _FEWEST:
                break
        if len(found) < _FEWEST:
            return self._round_values()
        return found[:: 1 + len(found) // (_MOST + 1)]

    def _multiples(self, factors: tuple[int, ...]) -> list[float]:
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        return [factor * 10.0**decade for decade in decades for factor in factors]


def _step(rough: float) -> float:
    decade = 10.0 ** floor(log10(rough))
    return decade * next(step for step in _STEPS if step * decade >= rough * 0.999)
