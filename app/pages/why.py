"""Why a case takes its time: sentences from its figures and its main kernel's, each with the part
of the GPU that explains it."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.comparing import main_kernel
from app.pages.formats import microseconds, percent, tera
from kernels.contract import DEVICES, CaseResult, Device, KernelReport, Report, Timing
from kernels.contract.device import Rate

_SHOWN = 3
_CLOSE = 0.85
"""Share of the roofline from which on little is left to gain."""

_MAIN = 0.8
"""Share of a case's time below which its largest step is not all there is to mend."""

_FEW_WARPS = 0.25

_SMALL_TILE = 96
"""Registers of a thread that hold no large accumulator."""


@dataclass(frozen=True)
class Sentence:
    """One reason, and the part of the page on the GPU that it rests on."""

    text: str
    part: str


@dataclass(frozen=True)
class Why:
    """One benchmark case."""

    case: str
    share: float
    """Of the roofline."""
    sentences: tuple[Sentence, ...]


def why(report: Report, rate: Rate) -> tuple[Why, ...]:
    """The cases farthest from the roofline, the farthest first."""
    device = DEVICES[report.device]
    timed = [(case, case.timing) for case in report.cases if case.timing is not None]
    timed.sort(key=lambda one: one[1].roofline)
    return tuple(
        Why(
            case.case,
            timing.roofline,
            (
                _bound(device, rate, timing),
                *_of_steps(case),
                *_of_kernel(device, rate, timing, main_kernel(report, case)),
                *_of_clock(device, timing),
            ),
        )
        for case, timing in timed[:_SHOWN]
    )


def _bound(device: Device, rate: Rate, timing: Timing) -> Sentence:
    if timing.roofline >= _CLOSE:
        return Sentence(
            f"At {percent(timing.roofline)} of the roofline little is left to gain.", ""
        )
    if timing.bound == "latency":
        return Sentence(
            f"Its work would take {microseconds(timing.floor_microseconds)} µs: starting a kernel "
            "costs more. Fewer launches help, faster arithmetic does not.",
            "sm",
        )
    if timing.bound == "memory":
        return Sentence(
            f"Memory bounds it: the bytes it must move went at {tera(timing.bytes_per_second)} of "
            f"{tera(device.bandwidth)} TB/s. Either more is moved than must be, "
            "or too little is on its way at a time.",
            "memory",
        )
    return Sentence(
        f"Arithmetic bounds it: {tera(timing.flops_per_second)} of "
        f"{tera(device.peak(rate, timing.clock_hz or device.boost_clock))} TFLOP/s at its clock.",
        "fp32" if rate == "fp32" else "tensor",
    )


def _of_steps(case: CaseResult) -> Iterator[Sentence]:
    if len(case.shares) < 2:
        return
    largest = max(case.shares, key=lambda step: step.share)
    if largest.share < _MAIN:
        yield Sentence(
            f"{len(case.shares)} steps share its time, {largest.step} has "
            f"{percent(largest.share)}: each reads from memory what the one before it wrote there, "
            "unless it still lies in L2. Fuse them.",
            "l2",
        )


def _of_kernel(
    device: Device, rate: Rate, timing: Timing, kernel: KernelReport | None
) -> Iterator[Sentence]:
    if kernel is None or timing.roofline >= _CLOSE or timing.bound == "latency":
        return
    for advice in kernel.advice:
        yield Sentence(
            f"{kernel.function}: {advice}", "registers" if "spill" in advice else "memory"
        )
    mix = kernel.mix
    if mix is None:
        return
    if timing.bound == "compute" and rate != "fp32" and mix.mma and not mix.wgmma:
        yield Sentence(
            f"{kernel.function} multiplies with mma instead of wgmma, which only four warps "
            "together have: blocks of at least 64 rows and num_warps of 4 or 8.",
            "tensor",
        )
    if timing.bound == "compute" and rate != "fp32" and not (mix.async_copies or mix.tma):
        yield Sentence(
            f"{kernel.function} copies nothing ahead: its products wait for their tiles. "
            f"num_stages of 3 or more (it has {kernel.stages}), or tensor descriptors.",
            "shared",
        )
    if timing.bound == "compute" and mix.wgmma and kernel.resources.registers <= _SMALL_TILE:
        yield Sentence(
            f"{kernel.function} uses {kernel.resources.registers} of 255 registers a thread, so "
            "its tiles are small: larger ones, such as 128 x 256 with 8 warps, do more products "
            "for each byte that they load.",
            "registers",
        )
    few = kernel.occupancy
    if timing.bound == "memory" and few is not None and few.share <= _FEW_WARPS and not mix.tma:
        yield Sentence(
            f"{few.warps} of {device.threads_per_sm // 32} warps fit on a multiprocessor, limited "
            f"by {' and '.join(few.limited_by)}: few to read while others wait. Smaller blocks or "
            "fewer registers let in more.",
            "warps",
        )


def _of_clock(device: Device, timing: Timing) -> Iterator[Sentence]:
    if timing.throttled and timing.clock_hz and timing.clock_hz < 0.97 * device.boost_clock:
        yield Sentence(
            f"The GPU lowered its clock to {timing.clock_hz / 1e6:.0f} MHz "
            f"({', '.join(timing.throttled)}); the roofline's arithmetic is that of this clock.",
            "tensor",
        )
