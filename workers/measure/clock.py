"""How kernels are timed; the one place where it is decided. The reasons are in docs/timing.md.

- A CUDA graph is timed, so that Python and the launch of single kernels cost nothing.
- Before each timed replay the caller puts fresh inputs in place and poisons the rest, and L2 is
  flushed; the flush also hides the time that the host takes to enqueue what follows. Where it did
  not, the round is run again behind a longer flush.
- Contenders take turns in an order that is drawn anew each round: power caps and idle gaps
  change a GPU's clocks by more than 10 %, and only neighbours in time compare.
- After fixed numbers of rounds one looks whether the interval is narrow enough. Its width alone
  decides, and the most rounds are settled before the first: nobody stops at a good number.
- A pair of events around a replay reads a constant too much; the constant is measured and taken
  off.
"""

import random
import time
from collections.abc import Callable, Sequence

import torch

from kernels.contract import Device
from workers.measure import driver
from workers.measure.contender import Contender, Race
from workers.measure.estimate import median
from workers.measure.replay import capture

FLUSH_BYTES = 256 << 20
"""More than four times the largest L2; takes longer than the host needs to enqueue a replay."""

SMALLEST_KERNEL = 0.32
"""Microseconds of a reading around the smallest kernel that are no constant. The profiler calls
that kernel 0.80 us long, but events hide a part of it: with 0.80 taken, kernels from 2 to 250 us
came out 0.34 to 0.56 us longer than in the profiler, 0.48 in the middle (H200, 21 readings)."""

_MOST_FLUSHES = 8
"""In a row, about half a millisecond; they hide a host that is busy."""

_CALIBRATION_ROUNDS = 80
_SHORTEST = 0.05
"""Microseconds; a reading under the constant is noise."""

_WARM_UP_ROUNDS = 3
_SLOW_ROUND = 0.5
"""Seconds; one such round warms up enough."""


class Clock:
    """Times work on the stream that is torch's current one when it is made: no default stream."""

    def __init__(self, device: Device, seed: int) -> None:
        """Allocate the flush buffer and measure the constant of an event pair."""
        self._random = random.Random(seed)
        nbytes = max(FLUSH_BYTES, 2 * device.l2_bytes)
        self._flush = torch.empty(nbytes, dtype=torch.uint8, device="cuda")
        self._flushes = 0
        self._stream = torch.cuda.current_stream()
        self._events: dict[str, tuple[torch.cuda.Event, torch.cuda.Event]] = {}
        self.overhead = 0.0
        """Microseconds that an event pair around a replay reads too much."""
        self.overhead = self._calibrate()

    def flush(self, times: int = 1) -> None:
        """Put other bytes into L2, several times if that is to last longer."""
        for _ in range(times):
            self._flushes += 1
            self._flush.fill_(self._flushes % 251)

    def time(self, work: Callable[[], None]) -> float:
        """Microseconds of one run with a cold L2, the constant taken off; waits for its end."""
        start, end = self._pair("")
        self.flush()
        start.record(self._stream)
        work()
        end.record(self._stream)
        driver.synchronize()
        return self._reading(start, end)

    def race(
        self,
        contenders: Sequence[Contender],
        rounds: int,
        after_round: Callable[[], None] = lambda: None,
        first: int = 0,
    ) -> Race:
        """Time every contender once a round, in random order.

        Rounds are numbered from `first`. `after_round` is called while the GPU still works on the
        round.
        """
        race = Race({contender.name: [] for contender in contenders})
        flushes = 1
        for number in range(first, first + rounds):
            order = [contender for contender in contenders if number % contender.every == 0]
            while self._round(order, number, flushes, after_round) and flushes < _MOST_FLUSHES:
                flushes *= 2
            for contender in order:
                race.times[contender.name].append(self._reading(*self._pair(contender.name)))
        return race

    def _round(
        self, order: list[Contender], number: int, flushes: int, after_round: Callable[[], None]
    ) -> bool:
        """Run a round to its end; whether the host came too late for a replay."""
        driver.reset_persisting_cache()
        self._random.shuffle(order)
        late = [self._enqueue(contender, number, flushes) for contender in order]
        after_round()
        driver.synchronize(driver.PATIENCE * len(order))
        return any(late)

    def warm_up(self, contenders: Sequence[Contender], seconds: float = 0.0) -> float:
        """Run rounds that do not count, a few or for so many seconds; seconds of one."""
        one = self._wall_seconds(contenders, 1)
        if one > _SLOW_ROUND:
            return one
        rounds = max(_WARM_UP_ROUNDS, int(seconds / one))
        return self._wall_seconds(contenders, rounds) / rounds

    def _wall_seconds(self, contenders: Sequence[Contender], rounds: int) -> float:
        started = time.perf_counter()
        self.race(contenders, rounds)
        return time.perf_counter() - started

    def _enqueue(self, contender: Contender, number: int, flushes: int) -> bool:
        """Whether the GPU got to the start before the host had put the replay behind it."""
        start, end = self._pair(contender.name)
        contender.prepare(number)
        self.flush(flushes)
        start.record(self._stream)
        contender.replay()
        late = bool(start.query())  # type: ignore[no-untyped-call]
        end.record(self._stream)
        contender.finish(number)
        return late

    def _pair(self, name: str) -> tuple[torch.cuda.Event, torch.cuda.Event]:
        if name not in self._events:
            self._events[name] = (_event(), _event())
        return self._events[name]

    def _reading(self, start: torch.cuda.Event, end: torch.cuda.Event) -> float:
        return max(float(start.elapsed_time(end)) * 1e3 - self.overhead, _SHORTEST)

    def _calibrate(self) -> float:
        """What an event pair around a graph reads beyond the kernel in it."""
        work = smallest_kernel()
        graph = capture(work)
        contender = Contender("smallest", graph.replay)
        self.race([contender], 3)
        times = self.race([contender], _CALIBRATION_ROUNDS).times["smallest"]
        # A median: these readings have a tail, and a trimmed mean of them moved thrice as much.
        return max(median(times) - SMALLEST_KERNEL, 0.0)


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def smallest_kernel() -> Callable[[], None]:
    """Launches a kernel that does next to nothing; it has run once."""
    target = torch.zeros(1, device="cuda")

    def work() -> None:
        target.fill_(1.0)

    work()
    return work
