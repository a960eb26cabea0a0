"""Where nothing can be timed: constants for triton.testing and timeit, and a note that says so."""

import itertools
import timeit
from collections.abc import Callable, Sequence
from typing import Any

import triton.testing

from kernels.contract import Device
from workers.facade.hooks import Hooks

MILLISECONDS = 1.0
NOTE = "host code timed kernels with do_bench: every time it read was 1 ms"


def install(device: Device, hooks: Hooks) -> None:
    """Replace the functions that would need a GPU."""

    def measured(call: Callable[[], object]) -> float:
        milliseconds = hooks.benchmark(call)
        if milliseconds is None:
            hooks.note(NOTE)
            return MILLISECONDS
        return milliseconds

    def do_bench(
        fn: Callable[[], object],
        warmup: int = 25,
        rep: int = 100,
        grad_to_none: Any = None,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        **_: Any,
    ) -> float | list[float]:
        milliseconds = measured(fn)
        if quantiles is not None and len(quantiles) != 1:
            return [milliseconds] * len(quantiles)
        return [milliseconds] if return_mode == "all" else milliseconds

    def timeit_(timer: timeit.Timer, number: int = 1_000_000) -> float:
        inner: Callable[..., object] = vars(timer)["inner"]
        once = vars(timer)["timer"]
        return number * measured(lambda: inner(itertools.repeat(None, 1), once)) / 1000

    setattr(timeit.Timer, "timeit", timeit_)  # noqa: B010  mypy forbids the assignment
    bandwidth = device.bandwidth / 1e9
    replacements: dict[str, Any] = {
        "do_bench": do_bench,
        "do_bench_cudagraph": do_bench,
        "get_dram_gbps": lambda device=None: bandwidth,
        "get_max_tensorcore_tflops": lambda *_, **__: device.nominal_peak["tensor16"] / 1e12,
        "get_max_simd_tflops": lambda *_, **__: device.nominal_peak["fp32"] / 1e12,
        "nvsmi": lambda attributes: [round(device.boost_clock / 1e6) for _ in attributes],
    }
    for name, replacement in replacements.items():
        setattr(triton.testing, name, replacement)
