"""What workers tell the service, over the Redis stream `events`."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from kernels.contract._model import Model, Name, Sha256, ShortText
from kernels.contract.inspection import Inspection
from kernels.contract.report import Report
from kernels.contract.rerun import Turn
from kernels.contract.submission import SubmissionId

STREAM = "events"

LEASE_SECONDS = 10
"""How long a worker's hold on an attempt outlives it."""

LEASE_REFRESH_SECONDS = 3

CANCELLED = "cancelled"
"""Holder of an attempt that no worker may take, or go on with, any more."""


class StageEvent(Model):
    """An attempt entered a stage, or got on within it."""

    kind: Literal["stage"] = "stage"
    submission: SubmissionId
    attempt: int = Field(ge=1)
    stage: Literal["building", "measuring"]
    """`queued` and `finished` are the service's own to say."""
    detail: ShortText = ""
    """What is being done, for a person."""
    case: Name | None = None
    worker: ShortText
    at: datetime


class BuiltEvent(Model):
    """A plan was built; its bundle lies in Redis under `bundle:<submission>-<attempt>`."""

    kind: Literal["built"] = "built"
    submission: SubmissionId
    attempt: int = Field(ge=1)
    plan: Sha256
    """Digest of the bundle."""
    worker: ShortText
    at: datetime


class ReportEvent(Model):
    """An attempt ended."""

    kind: Literal["report"] = "report"
    submission: SubmissionId
    attempt: int = Field(ge=1)
    report: Report
    lasting: bool = False
    """Of a judge error: whether another attempt would end alike."""
    worker: ShortText
    at: datetime


class RerunEvent(Model):
    """A rerun got on."""

    kind: Literal["rerun"] = "rerun"
    rerun: SubmissionId
    attempt: int = Field(ge=1)
    detail: ShortText
    """What is being done, for a person."""
    worker: ShortText
    at: datetime


class SittingEvent(Model):
    """A rerun has measured one plan once."""

    kind: Literal["sitting"] = "sitting"
    rerun: SubmissionId
    attempt: int = Field(ge=1)
    turn: Turn
    report: Report
    """Its `submission` is the turn's, its `attempt` the rerun's."""
    worker: ShortText
    at: datetime


class RerunEndEvent(Model):
    """An attempt at a rerun ended."""

    kind: Literal["rerun_end"] = "rerun_end"
    rerun: SubmissionId
    attempt: int = Field(ge=1)
    fault: ShortText = ""
    """Why it did not do what it should; empty if it did."""
    final: bool = False
    """Whether trying again would not help."""
    inspection: Inspection | None = None
    gpu_seconds: float = Field(0.0, ge=0, le=86_400)
    worker: ShortText
    at: datetime


Event = Annotated[
    StageEvent | BuiltEvent | ReportEvent | RerunEvent | SittingEvent | RerunEndEvent,
    Field(discriminator="kind"),
]


def lease_key(submission: str, attempt: int) -> str:
    """Redis key that lives while a worker is busy with an attempt."""
    return f"lease:{submission}-{attempt}"


def bundle_key(submission: str, attempt: int) -> str:
    """Redis key of a built plan that waits to be measured or stored."""
    return f"bundle:{submission}-{attempt}"


def job_id(queue: Literal["build", "measure", "rerun"], submission: str, attempt: int) -> str:
    """RQ job id of one stage of an attempt, or of a rerun's; unique, so none is queued twice."""
    return f"{queue}-{submission}-{attempt}"
