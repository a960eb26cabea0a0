"""A second clock: the GPU writes down its own time before and after a plan, without any event.

Its timer counts nanoseconds in steps of 32 on an H200. Both clocks read a constant too much, not
the same one; apart from that they share nothing, so that an error of one shows.
"""

import ctypes
from collections.abc import Callable

import torch
from cuda.bindings import driver as cuda

from workers.measure.clock import Clock, smallest_kernel
from workers.measure.contender import Contender
from workers.measure.driver import check
from workers.measure.estimate import median, ratio
from workers.measure.replay import capture

_STAMP = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry stamp(.param .u64 place)
{
    .reg .u64 %a, %t;
    ld.param.u64 %a, [place];
    cvta.to.global.u64 %a, %a;
    mov.u64 %t, %globaltimer;
    st.global.u64 [%a], %t;
    ret;
}
\0"""

SMALLEST_KERNEL = 0.80
"""Microseconds of the smallest kernel in an H200's profiler; stamps around it see all of it."""

_CALIBRATION_ROUNDS = 40
_MOST_ROUNDS = 64


class SecondClock:
    """Times work by kernels of one thread that store the GPU's timer."""

    def __init__(self, clock: Clock) -> None:
        """Load the kernel into the current context and measure the constant."""
        self._clock = clock
        self._moments = torch.zeros(2, dtype=torch.int64, device="cuda")
        self._readings = torch.zeros((_MOST_ROUNDS, 2), dtype=torch.int64, device="cuda")
        self._module = check(cuda.cuModuleLoadData(_STAMP))
        self._stamp = check(cuda.cuModuleGetFunction(self._module, b"stamp"))
        self.overhead = 0.0
        """Microseconds that two stamps around work read too much."""
        work = smallest_kernel()
        graph = self.capture(work)
        clock.race([self._contender(graph)], 2)
        clock.race([self._contender(graph)], _CALIBRATION_ROUNDS)
        self.overhead = max(median(self._stamps(_CALIBRATION_ROUNDS)) - SMALLEST_KERNEL, 0.0)

    def capture(self, work: Callable[[], object]) -> torch.cuda.CUDAGraph:
        """Work between two stamps as a graph; it must have run once before."""

        def stamped() -> None:
            self._write(0)
            work()
            self._write(1)

        return capture(stamped)

    def ratio(self, first: Contender, stamped: torch.cuda.CUDAGraph, rounds: int) -> float:
        """This clock's reading of the stamped work as a multiple of the first clock's of `first`.

        Both run in every round, at most 64, after the same preparation.
        """
        contenders = [first, self._contender(stamped, first.prepare)]
        rounds = min(rounds, _MOST_ROUNDS)
        times = self._clock.race(contenders, rounds).times[first.name]
        return ratio(self._stamps(rounds), times)

    def _stamps(self, rounds: int) -> list[float]:
        before, after = self._readings[:rounds].T.tolist()
        pairs = zip(before, after, strict=True)
        return [max((end - start) * 1e-3 - self.overhead, 0.05) for start, end in pairs]

    def _contender(
        self, graph: torch.cuda.CUDAGraph, prepare: Callable[[int], None] = lambda _: None
    ) -> Contender:
        def keep(number: int) -> None:
            self._readings[number].copy_(self._moments)

        return Contender("stamped", graph.replay, prepare, keep)

    def _write(self, place: int) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        arguments = ((self._moments.data_ptr() + 8 * place,), (ctypes.c_void_p,))
        check(cuda.cuLaunchKernel(self._stamp, 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0))
