"""The report: everything known about one judged submission."""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from kernels.contract import limits
from kernels.contract._model import Count, Identifier, LongText, Model, Name, ShortText
from kernels.contract.ceilings import Ceilings
from kernels.contract.compiler import InstructionMix, Occupancy
from kernels.contract.device import DeviceName
from kernels.contract.plan import Resources
from kernels.contract.submission import SubmissionId
from kernels.contract.verdict import Verdict, strongest

_MEASURED = {Verdict.ACCEPTED, Verdict.IMPLAUSIBLE}
_LONGEST = 86_400
"""Seconds."""


class Diagnostic(Model):
    """A place in the submission and what is wrong with it."""

    message: LongText
    """As Python or Triton prints it, or our one sentence."""
    line: int | None = Field(None, ge=1)
    """Line of the submission, from 1."""
    remedy: ShortText | None = None
    """What to write instead."""


class Mismatch(Model):
    """Where and how a result differs from the reference."""

    output: Identifier
    """Which result."""
    distribution: Name
    """What the inputs were drawn from."""
    count: Count
    """Elements outside their bound."""
    total: Count
    """Elements compared."""
    first_index: tuple[int, ...]
    """Index of the first of them in row-major order."""
    first_got: ShortText
    first_expected: ShortText
    worst_index: tuple[int, ...]
    """Index of the element with the largest error."""
    worst_got: ShortText
    worst_expected: ShortText
    error_map: tuple[tuple[int, ...], ...] = Field((), max_length=32)
    """Violations counted over a grid of at most 32 x 32 equal tiles of the last two dimensions."""


class Error(Model):
    """Relative Frobenius error of a result, and what the rule allows."""

    output: Identifier
    error: float
    """||Y - R|| / ||R||, R the reference in higher precision."""
    allowed: float
    baseline: float
    """The same error of torch in the task's own element type."""


class Sensed(Model):
    """What the driver said of the GPU after one round of a case's timing."""

    round: int = Field(ge=0)
    """Counted from 0."""
    clock_hz: float = Field(ge=0)
    """SM clock."""
    power_watts: float = Field(ge=0)


class Timing(Model):
    """How long one benchmark case takes."""

    microseconds: float = Field(gt=0)
    """Latency: centre of the samples; where the anchor has a published time on the device, centre
    of the ratios to the anchor times that."""
    low: float = Field(gt=0)
    """95 % bootstrap interval of `microseconds`."""
    high: float = Field(gt=0)
    samples: tuple[float, ...] = Field(max_length=2000)
    """Raw latencies, in microseconds, in the order they were taken."""
    torch_microseconds: float | None = Field(None, gt=0)
    """The torch baseline, measured in every third of the same rounds."""
    flops_per_second: float = Field(ge=0)
    bytes_per_second: float = Field(ge=0)
    """From the least bytes the case must move."""
    floor_microseconds: float = Field(ge=0)
    """Fastest the hardware could be, from bytes, FLOPs and the clock read."""
    roofline: float = Field(ge=0)
    """Share of that limit: floor / latency."""
    bound: Literal["memory", "compute", "latency"]
    """What the floor comes from."""
    clock_hz: float | None = Field(None, gt=0)
    """Median SM clock over the rounds."""
    power_watts: float | None = Field(None, ge=0)
    sensed: tuple[Sensed, ...] = Field((), max_length=512)
    """Clock and power over the rounds, in every few of them."""
    throttled: tuple[ShortText, ...] = ()
    """Reasons the driver gave for lower clocks, if any."""
    anchor: ShortText | None = None
    """The fixed work that took turns with it."""
    anchor_microseconds: float | None = Field(None, gt=0)
    """Its centre in the same rounds."""
    ceiling: float | None = Field(None, gt=0)
    """Bytes/s or FLOP/s that the anchor reached in these rounds."""
    reached: float | None = Field(None, ge=0)
    """Share of what this GPU itself reached when its worker started: the time at the report's
    ceilings / latency. None where those were not taken, or are of another kind of arithmetic."""
    constant_microseconds: float | None = Field(None, ge=0)
    """What was taken off every sample, as an event pair reads it without any work."""
    second_microseconds: float | None = Field(None, gt=0)
    """The same latency, not corrected by the anchor, by a clock that shares nothing with the
    first."""

    @property
    def speedup(self) -> float | None:
        """Times faster than the torch baseline."""
        torch = self.torch_microseconds
        return None if torch is None else torch / self.microseconds


class StepShare(Model):
    """What part of a case's time one step of the plan takes."""

    step: ShortText
    """Kernel function or torch operation."""
    share: float = Field(ge=0, le=1)


class CaseResult(Model):
    """The answer for one case."""

    case: Name
    kind: Literal["test", "benchmark"]
    verdict: Verdict
    reason: ShortText = ""
    """One sentence; empty when it passed."""
    errors: tuple[Error, ...] = ()
    """The largest per result over all distributions and seeds."""
    mismatch: Mismatch | None = None
    timing: Timing | None = None
    shares: tuple[StepShare, ...] = ()
    configs: dict[ShortText, ShortText] = {}
    """Autotune configuration chosen, by tuned kernel."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.mismatch is not None and self.verdict is not Verdict.WRONG_ANSWER:
            raise ValueError("only a wrong answer has a mismatch")
        if self.timing is not None and self.verdict not in _MEASURED:
            raise ValueError("only a right result is timed")
        if self.kind == "benchmark" and self.verdict in _MEASURED and self.timing is None:
            raise ValueError("an accepted benchmark case must be timed")
        if self.verdict.passed == bool(self.reason):
            raise ValueError("a case that did not pass, and only such, gives a reason")
        return self


class KernelReport(Model):
    """Compiler facts of one kernel that a case would launch."""

    function: Identifier
    cases: tuple[Name, ...]
    """Cases that launch it."""
    config: ShortText = ""
    """Autotune configuration it belongs to."""
    warps: int
    stages: int
    ctas: int
    resources: Resources
    occupancy: Occupancy | None = None
    mix: InstructionMix | None = None
    """None where the kernel was not rebuilt."""
    advice: tuple[ShortText, ...] = Field((), max_length=8)
    """One sentence each, only where it is sure."""


class Environment(Model):
    """With what the submission was judged."""

    triton: ShortText
    torch: ShortText
    python: ShortText
    driver: ShortText | None = None
    gpu: ShortText | None = None
    """What the driver calls the GPU; None where none was used."""
    jail: ShortText
    """Isolation level of the build."""
    worker: ShortText
    """Host that judged it."""


class Durations(Model):
    """Wall-clock seconds of each part."""

    build: float | None = Field(None, ge=0)
    check: float | None = Field(None, ge=0)
    measure: float | None = Field(None, ge=0)


class GpuSeconds(Model):
    """Seconds for which a submission held a GPU, from taking it to giving it back, by part."""

    total: float = Field(ge=0, le=_LONGEST)
    load: float = Field(0.0, ge=0, le=_LONGEST)
    """Opening the GPU, loading the plan, finding the clocks' constants."""
    correctness: float = Field(0.0, ge=0, le=_LONGEST)
    """Inputs, runs, references and comparisons."""
    choices: float = Field(0.0, ge=0, le=_LONGEST)
    """Timing autotune configurations against each other."""
    timing: float = Field(0.0, ge=0, le=_LONGEST)
    """Rounds of the plan and of what it is held against."""
    overhead: float = Field(0.0, ge=0, le=_LONGEST)
    """All the rest."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        parts = self.load + self.correctness + self.choices + self.timing + self.overhead
        if abs(parts - self.total) > 1e-3:
            raise ValueError(f"parts of {parts:.3f} s do not make a total of {self.total:.3f} s")
        return self

    @classmethod
    def of(cls, **parts: float) -> Self:
        """From seconds by part."""
        return cls(total=sum(parts.values()), **parts)

    def within(self, held: float) -> Self:
        """The same with `held` seconds in all; what they have no part for is overhead."""
        more = max(held - self.total, 0.0)
        return self.model_copy(
            update={"total": self.total + more, "overhead": self.overhead + more}
        )


class Report(Model):
    """The judge's answer to one attempt."""

    submission: SubmissionId
    attempt: int = Field(ge=1)
    task: Name
    task_version: int = Field(ge=1)
    device: DeviceName
    """GPU model it was built for."""
    verdict: Verdict
    reason: ShortText = ""
    """One sentence; empty when it passed."""
    diagnostics: tuple[Diagnostic, ...] = Field((), max_length=64)
    caveats: tuple[ShortText, ...] = Field((), max_length=32)
    """What this verdict cannot vouch for."""
    cases: tuple[CaseResult, ...] = Field((), max_length=limits.CASES)
    kernels: tuple[KernelReport, ...] = Field((), max_length=limits.KERNELS)
    score: float | None = Field(None, gt=0)
    """Geometric mean of the benchmark cases' microseconds; less is better."""
    harness: int = Field(1, ge=1)
    """HARNESS_VERSION of the measurer; scores of different ones do not compare."""
    rebuilt: Literal["identical", "different", "not rebuilt"] | None = None
    """Whether a process without submitted code made the same cubins; None if none was built."""
    plan_cached: bool = False
    """Whether the plan was taken from the plan cache instead of being built."""
    environment: Environment | None = None
    durations: Durations = Durations()
    ceilings: Ceilings | None = None
    """What the GPU reached when its worker started."""
    gpu: GpuSeconds | None = None
    """None where no GPU was used, or its use was not counted."""
    log: str = Field("", max_length=2 * limits.LOG_BYTES)
    """What the submission printed while it was built, shortened."""
    finished_at: datetime

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        verdict = self.verdict
        if verdict.passed == bool(self.reason):
            raise ValueError("a report that did not pass, and only such, gives a reason")
        if (self.score is not None) != (verdict in _MEASURED):
            raise ValueError("measured reports, and only those, have a score")
        if verdict.passed and self.rebuilt in ("different", "not rebuilt"):
            raise ValueError("a report passes only if its kernels were rebuilt, and identical")
        if verdict.passed and not self.cases:
            raise ValueError("a report that passed must say which cases")
        if self.cases and verdict is not Verdict.JUDGE_ERROR:
            worst = strongest([case.verdict for case in self.cases])
            if worst.precedence < verdict.precedence:
                raise ValueError(f"verdict {verdict} is weaker than a case's {worst}")
        return self
