"""What the service answers, as far as the client uses it.

Fields that a newer service adds are ignored, and words such as verdicts are plain strings, so that
an old client keeps working. `GET /api/v1/openapi.json` describes everything.
"""

import re
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Without the characters that would command a terminal; other people's words hold some."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


Words = Annotated[str, AfterValidator(printable)]
"""Text that is shown to a person."""


class Payload(BaseModel):
    """Base of all payloads: immutable, open to fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Task(Payload):
    """A problem of the catalogue."""

    name: Words
    title: Words
    version: int
    summary: Words
    difficulty: Words
    tags: tuple[Words, ...] = ()


class Diagnostic(Payload):
    """A place in the submission and what is wrong with it."""

    message: Words
    line: int | None = None
    """Line of the submission, from 1."""
    remedy: Words | None = None


class Timing(Payload):
    """How long a benchmark case takes."""

    microseconds: float
    low: float
    """95 % interval of `microseconds`."""
    high: float
    torch_microseconds: float | None = None
    """torch on the same inputs, in the same rounds."""
    flops_per_second: float = 0.0
    bytes_per_second: float = 0.0
    roofline: float = 0.0
    """Share of the hardware's limit."""

    @property
    def speedup(self) -> float | None:
        """Times faster than torch."""
        torch = self.torch_microseconds
        return None if torch is None else torch / self.microseconds


class CaseResult(Payload):
    """The answer for one case."""

    case: Words
    kind: Words
    """`test` or `benchmark`."""
    verdict: Words
    reason: Words = ""
    timing: Timing | None = None
    configs: dict[Words, Words] = {}
    """Autotune configuration chosen, by tuned kernel."""


class Resources(Payload):
    """What a kernel takes."""

    registers: int
    """Of a thread."""
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    shared_bytes: int = 0
    """Dynamic, of a block."""
    static_shared_bytes: int = 0


class Occupancy(Payload):
    """How much of a multiprocessor a kernel can fill."""

    share: float
    """Of the warps that a multiprocessor can hold."""
    limited_by: tuple[Words, ...] = ()


class Kernel(Payload):
    """What the compiler made of a kernel in one configuration."""

    function: Words
    cases: tuple[Words, ...] = ()
    config: Words = ""
    warps: int
    stages: int
    resources: Resources
    occupancy: Occupancy | None = None
    advice: tuple[Words, ...] = ()


class Report(Payload):
    """Everything known about a judged submission."""

    verdict: Words
    reason: Words = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    caveats: tuple[Words, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    score: float | None = None
    """Geometric mean of the benchmark cases' microseconds; less is better."""
    harness: int = 1
    """Version of the clock; scores of different ones do not compare."""
    log: Words = ""


class StageEntry(Payload):
    """One line of a submission's log of stages."""

    id: int
    stage: Words
    detail: Words = ""
    attempt: int = 1
    at: datetime


class Submission(Payload):
    """A submission and what became of it."""

    id: Words
    user: Words
    task: Words
    task_version: int
    device: Words
    measured: bool
    """Whether a GPU judges it; otherwise it is checked on the CPU."""
    stage: Words
    verdict: Words | None = None
    """None until it is finished."""
    reason: Words = ""
    score: float | None = None
    created_at: datetime | None = None
    label: Words | None = None
    position: int | None = None
    """Place in the queue, from 1."""
    report: Report | None = None

    @property
    def finished(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict is not None

    @property
    def passed(self) -> bool:
        """Whether it is right, measured or not."""
        return self.verdict in ("accepted", "checked")


class BoardEntry(Payload):
    """A user's best accepted submission."""

    rank: int
    tied: bool = False
    user: Words
    submission: Words
    score: float
    low: float | None = None
    high: float | None = None
    behind: float
    """Times the best score of the board."""


class Board(Payload):
    """The ranking of a task on a device, best first."""

    task: Words
    task_version: int
    device: Words
    entries: tuple[BoardEntry, ...] = ()


class HouseEntry(Payload):
    """The best solution that comes with the project for a task on a device: without a rank."""

    task: Words
    task_version: int
    device: Words
    solution: Words
    score: float


class SubmissionPage(Payload):
    """Part of the list of submissions, newest first."""

    items: tuple[Submission, ...]
    next_cursor: Words | None = None


class CaseRatio(Payload):
    """One benchmark case of two submissions, in microseconds."""

    case: Words
    first: float
    second: float
    ratio: float
    """Above 1 the second is slower."""
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """`slower`, `faster`, or `same` where the interval holds 1."""
        if self.low > 1:
            return "slower"
        return "faster" if self.high < 1 else "same"


class KernelDifference(Payload):
    """A fact of the kernel that takes most of a case's time."""

    case: Words
    fact: Words
    first: Words
    second: Words


class Comparison(Payload):
    """Two finished submissions for one task."""

    first: Submission
    second: Submission
    cases: tuple[CaseRatio, ...] = ()
    ratio: float | None = None
    """None where nothing was timed in both."""
    notes: tuple[Words, ...] = ()
    """What speaks against comparing them."""
    kernels: tuple[KernelDifference, ...] = ()
    source: tuple[Words, ...] | None = None
    """Lines of a unified difference; None where one may not see both."""


class Me(Payload):
    """Who asks."""

    user: Words


class Health(Payload):
    """What the installation is able to do."""

    measured_devices: tuple[Words, ...] = ()
    """GPU models that it has ever measured on, the latest first."""
