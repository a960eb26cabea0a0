"""A plan in a race: fresh inputs and poison before each replay, and looks at what it computed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from kernels.contract import Distribution
from workers.measure import driver
from workers.measure.contender import Contender
from workers.measure.correctness import Correctness, Finding
from workers.measure.memory import NAN
from workers.measure.rounds import CANDIDATE

FIRST_DRAW = 100
"""Inputs of timed replays come from draws that no other run uses; the baseline's from the one
before them, so that its results are no candidate's answers."""

_CHECKS_AT_FIRST = 2
"""Timed replays before the first look whose results are checked; behind it one before each."""

_INPUT_SETS = (2, 3)
_INPUT_SETS_BYTES = 4 << 30


def main_distribution(correctness: Correctness) -> Distribution:
    """The one that is timed."""
    return correctness.bench.request.task.distributions[0]


@dataclass
class _Kept:
    """Results of one timed replay, for a later check."""

    inputs: int
    outputs: tuple[Tensor, ...]
    finding: Finding | None


@dataclass
class Candidate:
    """The plan as a contender."""

    correctness: Correctness
    images: list[Tensor]
    random: random.Random
    graph: torch.cuda.CUDAGraph
    _checked: set[int] = field(default_factory=set)
    _kept: list[_Kept] = field(default_factory=list)
    _current: int = 0

    @classmethod
    def of(cls, correctness: Correctness, seed: int) -> "Candidate":
        """With its input sets and its graph; everything must have run once before."""
        images = _images(correctness)
        graph = correctness.replay.capture(correctness.picks)
        return cls(correctness, images, random.Random(seed), graph)

    def contender(self) -> Contender:
        """To race, with some results kept."""
        return Contender(CANDIDATE, self.graph.replay, self._prepare, self._finish)

    def unwatched(self) -> Contender:
        """To race without a look at results."""
        return Contender(CANDIDATE, self.graph.replay, self._prepare)

    def draw_checks(self, first: int, end: int) -> None:
        """Choose the replays, among those of rounds to come, whose results are looked at."""
        count = _CHECKS_AT_FIRST if first == 0 else 1
        self._checked |= set(self.random.sample(range(first, end), min(count, end - first)))

    def check(self) -> Finding | None:
        """Whether the timed replays that were kept are right."""
        distribution = main_distribution(self.correctness)
        for number, group in _by_inputs(self._kept):
            finding = next((kept.finding for kept in group if kept.finding), None)
            finding = finding or self.correctness.judge_runs(
                [kept.outputs for kept in group], distribution, FIRST_DRAW + number
            )
            if finding is not None:
                reason = f"in a timed replay: {finding.reason}"[:500]
                return Finding(finding.verdict, reason, finding.mismatch)
        return None

    def _prepare(self, _: int) -> None:
        """Put one of the input sets in place and poison the rest."""
        memory = self.correctness.replay.memory
        self._current = self.random.randrange(len(self.images))
        memory.load(self.images[self._current])
        memory.restore_constants()
        memory.poison(self.random.choice((NAN, self.random.randrange(256))))

    def _finish(self, number: int) -> None:
        if number in self._checked:
            driver.synchronize()  # a look at memory would wait for ever
            finding = self.correctness.inspect(self.images[self._current])
            self._kept.append(_Kept(self._current, self.correctness.outputs(), finding))


def _images(correctness: Correctness) -> list[Tensor]:
    def image(number: int) -> Tensor:
        made = correctness.bench.make_inputs(
            correctness.case, main_distribution(correctness), FIRST_DRAW + number
        )
        return correctness.replay.memory.image(made.buffers)

    first = image(0)
    fewest, most = _INPUT_SETS
    count = max(fewest, min(most, _INPUT_SETS_BYTES // max(first.numel(), 1)))
    return [first, *(image(number) for number in range(1, count))]


def _by_inputs(kept: Sequence[_Kept]) -> list[tuple[int, list[_Kept]]]:
    """The replays that had the same inputs together, since they share a reference."""
    numbers = sorted({replay.inputs for replay in kept})
    return [(number, [one for one in kept if one.inputs == number]) for number in numbers]
