"""Reports as workers would send them, for pages to show."""

from datetime import UTC, datetime

from kernels.contract import (
    DEVICES,
    CaseResult,
    Ceilings,
    DeviceName,
    Diagnostic,
    Durations,
    Environment,
    Error,
    GpuSeconds,
    InstructionMix,
    KernelReport,
    Mismatch,
    Report,
    Resources,
    Sensed,
    StepShare,
    Timing,
    Verdict,
    occupancy,
)

SOURCE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, y, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < N
    values = tl.load(x + row * stride + columns, mask=inside, other=float("-inf"))
    shifted = tl.exp(values.to(tl.float32) - tl.max(values, 0).to(tl.float32))
    tl.store(y + row * N + columns, shifted / tl.sum(shifted, 0), mask=inside)


def solve(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((M, N), device=x.device, dtype=x.dtype)
    softmax_kernel[(M,)](x, y, x.stride(0), N, BLOCK=triton.next_power_of_2(N))
    return y
"""

HOSTILE = '<script>alert("x")</script></textarea><img src=x onerror=alert(1)>"\'&\u202e{{ 7*7 }}'
"""Text that must come out as text, wherever a worker or a user can put it."""

_AT = datetime(2026, 5, 4, 12, 30, 15, tzinfo=UTC)
_ERROR = Error(output="y", error=2.1e-4, allowed=3.3e-4, baseline=2.2e-4)
_HERE = Environment(
    triton="3.6.0",
    torch="2.11.0",
    python="3.12.3",
    driver="580.95.05",
    gpu="NVIDIA H200",
    jail="complete: uid, namespaces, landlock 5, seccomp, rlimits",
    worker="gpu-host-1",
)


GPU = GpuSeconds.of(load=0.31, correctness=0.52, timing=0.4, overhead=0.09)
CEILINGS = Ceilings(
    copy_bytes_per_second=4.267e12,
    matmul_flops_per_second=7.217e14,
    matmul_clock_hz=1.545e9,
    throttled=("power cap",),
    taken_at=_AT,
)


def accepted(submission: str, *, scale: float = 1.0, attempt: int = 1) -> Report:
    """A measured softmax; `scale` times as slow as the sample."""
    tests = [_right(name) for name in ("one_column", "ragged_760", "padded_rows")]
    timed = [
        ("short_rows", 31.42, 0.89),
        ("hidden_4096", 61.07, 0.93),
        ("vocabulary_128256", 261.9, 0.55),
    ]
    benchmarks = [_timed(name, us * scale, share / scale) for name, us, share in timed]
    return _report(
        submission,
        Verdict.ACCEPTED,
        attempt=attempt,
        cases=(*tests, *benchmarks),
        kernels=(_kernel("softmax_kernel", spills=0), _kernel("wide_kernel", spills=96)),
        score=(31.42 * 61.07 * 261.9) ** (1 / 3) * scale,
        rebuilt="identical",
        plan_cached=True,
        durations=Durations(build=0.41, measure=1.32),
        gpu=GPU,
        ceilings=CEILINGS,
    )


def checked(submission: str) -> Report:
    """A softmax that is right on the interpreter."""
    return _report(
        submission,
        Verdict.CHECKED,
        cases=tuple(_right(name, Verdict.CHECKED) for name in ("one_row", "below_128")),
        caveats=(
            "Races between programs cannot be seen: the interpreter runs one after the other.",
            "The precision of tl.dot is that of numpy, not of the tensor cores.",
        ),
        kernels=(_kernel("softmax_kernel", spills=0),),
        environment=_HERE.model_copy(update={"gpu": None, "driver": None}),
        durations=Durations(build=0.62, check=1.1),
        log="compiling softmax_kernel\n\x1b[32mdone\x1b[0m\n",
    )


def wrong(submission: str) -> Report:
    """A softmax that leaves out the last columns of each row."""
    mismatch = Mismatch(
        output="y",
        distribution="constant_rows",
        count=1_320,
        total=6 * 760,
        first_index=(0, 512),
        first_got="nan",
        first_expected="0.00131579",
        worst_index=(5, 759),
        worst_got="nan",
        worst_expected="0.00131579",
        error_map=tuple(tuple(7 * (c > 20) * (r + 1) for c in range(32)) for r in range(6)),
    )
    failed = CaseResult(
        case="ragged_760",
        kind="test",
        verdict=Verdict.WRONG_ANSWER,
        reason="1,320 of 4,560 elements of y differ from the reference.",
        errors=(Error(output="y", error=0.71, allowed=3.3e-3, baseline=2.2e-3),),
        mismatch=mismatch,
    )
    return _report(
        submission,
        Verdict.WRONG_ANSWER,
        reason="Case ragged_760: 1,320 of 4,560 elements of y differ from the reference.",
        cases=(_right("one_column"), failed),
    )


def broken(submission: str) -> Report:
    """A softmax that does not compile."""
    message = (
        "at 6:13:\n    values = tl.load(x + row * stride + columns, mask=inside)\n"
        "             ^\nValueError('Mask argument cannot be block type if pointer argument is "
        "not a block')"
    )
    return _report(
        submission,
        Verdict.BUILD_ERROR,
        reason="The Triton compiler refused softmax_kernel.",
        diagnostics=(
            Diagnostic(message=message, line=11, remedy="Make the pointer a block as well."),
            Diagnostic(message="1 error in softmax_kernel"),
        ),
        log="warning: the kernel has no mask\n",
    )


def hostile(submission: str) -> Report:
    """Every text field holds HOSTILE."""
    failed = CaseResult(
        case="ragged_760",
        kind="test",
        verdict=Verdict.WRONG_ANSWER,
        reason=HOSTILE,
        mismatch=Mismatch(
            output="y",
            distribution="normal",
            count=1,
            total=1,
            first_index=(0,),
            first_got=HOSTILE,
            first_expected=HOSTILE,
            worst_index=(0,),
            worst_got=HOSTILE,
            worst_expected=HOSTILE,
        ),
    )
    return _report(
        submission,
        Verdict.WRONG_ANSWER,
        reason=HOSTILE,
        diagnostics=(Diagnostic(message=HOSTILE, line=1, remedy=HOSTILE),),
        caveats=(HOSTILE,),
        cases=(failed,),
        kernels=(_kernel("kernel", spills=0, config=HOSTILE),),
        environment=Environment(
            triton=HOSTILE, torch=HOSTILE, python=HOSTILE, jail=HOSTILE, worker=HOSTILE
        ),
        log=f"\x1b[31m{HOSTILE}\x1b]8;;http://example.com\x07\x00",
    )


def _report(submission: str, verdict: Verdict, **fields: object) -> Report:
    base: dict[str, object] = {
        "submission": submission,
        "attempt": 1,
        "task": "softmax",
        "task_version": 1,
        "device": DeviceName.H200,
        "verdict": verdict,
        "environment": _HERE,
        "finished_at": _AT,
    }
    return Report.model_validate(base | fields)


def _right(case: str, verdict: Verdict = Verdict.ACCEPTED) -> CaseResult:
    return CaseResult(case=case, kind="test", verdict=verdict, errors=(_ERROR,))


def _timed(case: str, us: float, share: float) -> CaseResult:
    timing = Timing(
        microseconds=us,
        low=us * 0.998,
        high=us * 1.003,
        samples=(us,),
        torch_microseconds=us * 1.4,
        flops_per_second=0,
        bytes_per_second=share * 4.8e12,
        floor_microseconds=us * share,
        roofline=share,
        reached=share * 1.125,
        bound="memory",
        clock_hz=1.98e9,
        power_watts=512.0,
        sensed=tuple(
            Sensed(round=8 * n, clock_hz=1.98e9 - 15e6 * (n > 3), power_watts=505.0 + n)
            for n in range(7)
        ),
    )
    return CaseResult(
        case=case,
        kind="benchmark",
        verdict=Verdict.ACCEPTED,
        errors=(_ERROR,),
        timing=timing,
        shares=(StepShare(step="softmax_kernel", share=1.0),),
        configs={"softmax_kernel": "BLOCK: 4096, num_warps: 8"},
    )


def _kernel(function: str, *, spills: int, config: str = "") -> KernelReport:
    return KernelReport(
        function=function,
        cases=("one_column", "ragged_760", "short_rows"),
        config=config,
        warps=8,
        stages=3,
        ctas=1,
        resources=Resources(
            registers=40,
            stack_bytes=spills,
            spill_store_bytes=spills,
            spill_load_bytes=spills,
            shared_bytes=64,
            static_shared_bytes=0,
        ),
        occupancy=occupancy(DEVICES[DeviceName.H200], 8, 40, 64),
        mix=InstructionMix(
            total=300, wgmma=0, mma=0, tma=0, async_copies=0, loads={"16": 8}, local=2, special=33
        ),
        advice=("It spills: use smaller blocks.",) if spills else (),
    )
