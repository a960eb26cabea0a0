"""What the API answers and the pages show of reruns and sittings."""

from datetime import datetime
from typing import Literal

from app.schemas import Schema
from kernels.contract import Verdict
from kernels.contract.inspection import Inspection
from kernels.contract.rerun import RerunKind, RerunState


class InspectRequest(Schema):
    """How to look at a plan."""

    kind: Literal["memcheck", "racecheck", "profile"]


class RerunDetail(Schema):
    """A stored plan that is measured or inspected once more, or several together."""

    id: str
    kind: RerunKind
    state: RerunState
    attempt: int
    """Counts from 1; raised each time the judge had to start over."""
    submissions: tuple[str, ...]
    """Whose plans take part; of those that are sealed in a contest only one's own."""
    rounds: int
    """Sittings of each."""
    detail: str
    """What is being done, or why it failed."""
    user: str
    """Who asked."""
    created_at: datetime
    finished_at: datetime | None
    inspection: Inspection | None
    """What the tool saw; None unless it is done, and to those who may not see the source."""


class Sitting(Schema):
    """One measurement of a submission's plan."""

    number: int
    """0 for the one that it was judged by."""
    rerun: str | None
    """None for that one."""
    round: int
    verdict: Verdict
    reason: str
    """One sentence; empty if it was accepted."""
    harness: int
    """Version of the clock."""
    score: float | None
    low: float | None
    high: float | None
    counts: bool
    """Whether the submission's score rests on it."""
    finished_at: datetime


class Standing(Schema):
    """The score of a submission over all sittings that count."""

    score: float
    low: float
    high: float
    sittings: int
    harness: int
    held: str
    """Why it is on no board; empty if it may be."""


class Sittings(Schema):
    """Everything that was measured of one submission."""

    standing: Standing | None
    """None unless the submission was accepted."""
    sittings: tuple[Sitting, ...]
    """Oldest first."""
