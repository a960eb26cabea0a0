"""A rerun: the stored plan of a finished submission, measured or inspected once more."""

from enum import StrEnum

from pydantic import Field

from kernels.contract._model import Model, Name, Sha256, ShortText
from kernels.contract.device import DeviceName
from kernels.contract.submission import SubmissionId

MOST_PLANS = 16
"""That one rerun measures together."""

MOST_ROUNDS = 8
"""Sittings of each plan in one rerun."""


class RerunKind(StrEnum):
    """What is done with the plan."""

    MEASURE = "measure"
    """Judged and timed again, with fresh inputs: a sitting."""
    MEMCHECK = "memcheck"
    """Every access to memory is looked at by compute-sanitizer."""
    RACECHECK = "racecheck"
    """Accesses to shared memory that race are looked for by compute-sanitizer."""
    PROFILE = "profile"
    """The GPU's counters are read by Nsight Compute."""

    @property
    def inspects(self) -> bool:
        """Whether a tool looks at the plan, and no time counts."""
        return self is not RerunKind.MEASURE


class RerunState(StrEnum):
    """Where a rerun is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class RerunPlan(Model):
    """A plan that takes part; its bundle lies in Redis under `rerun_bundle_key`."""

    submission: SubmissionId
    digest: Sha256
    """Of the bundle."""


class Turn(Model):
    """One measurement of one plan."""

    submission: SubmissionId
    round: int = Field(ge=1, le=MOST_ROUNDS)


class Rerun(Model):
    """What a measurer is given: one attempt at a rerun."""

    id: SubmissionId
    attempt: int = Field(ge=1, le=100)
    kind: RerunKind
    task: Name
    task_version: int = Field(ge=1)
    device: DeviceName
    plans: tuple[RerunPlan, ...] = Field(min_length=1, max_length=MOST_PLANS)
    turns: tuple[Turn, ...] = Field((), max_length=MOST_PLANS * MOST_ROUNDS)
    """Of a measurement: what is to be done, in this order."""
    configs: dict[Name, dict[ShortText, ShortText]] = {}
    """Of an inspection: the configuration that was measured, by case and tuned kernel."""


def rerun_bundle_key(rerun: str, submission: str) -> str:
    """Redis key of a plan that a rerun needs."""
    return f"rerun:{rerun}:{submission}"
