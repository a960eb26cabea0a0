"""What the API answers and the pages show; every payload is one of these."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from kernels.contract import (
    Ceilings,
    Cost,
    DeviceName,
    NumberSpec,
    Parameter,
    Permissions,
    Report,
    Stage,
    TensorSpec,
    TimeLimits,
    Tolerance,
    Verdict,
    WorkerInfo,
)
from kernels.contract.task import Value

TaskName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
SubmissionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
User = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.@-]{1,64}$")]
EntryName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Cursor = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,18}$")]
Label = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,100}$")]
ContestName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
IdempotencyKey = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,200}$")]


class Schema(BaseModel):
    """Base of all payloads: immutable, and closed to unknown fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class Problem(Schema):
    """An error, as RFC 9457 shapes it, with what to do next."""

    type: str = "about:blank"
    """Address of a page on this kind of error, or `about:blank`."""
    title: str
    """The kind of error, the same for every occurrence."""
    status: int
    """HTTP status."""
    detail: str
    """What was wrong this time."""
    next_step: str
    """What to do about it."""


class CaseDetail(Schema):
    """One visible case of a task, with everything it passes and expects."""

    name: str
    kind: Literal["test", "benchmark"]
    values: dict[str, Value]
    """Size or element type of each of the task's parameters."""
    arguments: tuple[TensorSpec | NumberSpec, ...]
    """What the entry function gets, in order."""
    results: tuple[TensorSpec, ...]
    """What it must return, in order."""
    flops: int
    """FLOPs one call counts for."""
    bytes: int
    """Fewest bytes one call must move."""


class TaskSummary(Schema):
    """A task, as a list shows it."""

    name: str
    title: str
    version: int
    summary: str
    difficulty: Literal["easy", "medium", "hard"]
    tags: tuple[str, ...]


class HouseEntry(Schema):
    """What the best solution that comes with the project reached: without a rank."""

    task: str
    task_version: int
    device: DeviceName
    solution: str
    """Its file among the task's solutions, without the ending."""
    score: float
    """Geometric mean of the benchmark cases' microseconds."""
    gpu: str
    judged_at: datetime


class HouseRecord(HouseEntry):
    """The same with its whole report."""

    report: Report


class TaskDetail(TaskSummary):
    """A task with all that a participant may know."""

    entry: str
    """Name of the function that a submission defines."""
    signature: str
    """The entry function as a line of Python with shapes, for a person."""
    statement: str
    """The problem in Markdown."""
    starter: str
    """Source to start from."""
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    cases: tuple[CaseDetail, ...]
    hidden_cases: int
    """How many further cases are not shown."""
    cost: Cost
    tolerance: Tolerance
    permissions: Permissions
    limits: TimeLimits
    devices: tuple[DeviceName, ...]
    """GPU models one can submit for, the default first."""


class SubmitRequest(Schema):
    """Source to be judged."""

    task: TaskName
    source: str
    """Python with Triton kernels, at most 256 KiB of UTF-8."""
    device: DeviceName | None = None
    """GPU model to build for; by default one that this installation measures on."""
    entry: EntryName | None = None
    """Function to call; by default the task's."""
    label: Label | None = None
    """A name of the submitter's own to find it by, such as a branch; on one line."""
    contest: ContestName | None = None
    """A contest that the submitter takes part in, and that it is made for."""
    check_only: bool = False
    """Run its test cases on the CPU although a GPU is there: quickly, and without a rank."""


class SubmissionSummary(Schema):
    """A submission, as a list shows it."""

    id: str
    user: str
    task: str
    task_version: int
    device: DeviceName
    measured: bool
    """Whether a GPU of that model judges it; otherwise it is checked on the CPU."""
    stage: Stage
    attempt: int
    """Counts from 1; raised each time the judge had to start over."""
    verdict: Verdict | None
    """None until it is finished."""
    reason: str
    """One sentence; empty when it passed or is not finished."""
    score: float | None
    """Geometric mean of the benchmark cases' microseconds; None where nothing was measured."""
    created_at: datetime
    finished_at: datetime | None
    label: str | None
    """What the submitter calls it."""


class StageEntry(Schema):
    """One line of a submission's log of stages."""

    id: int
    """Grows with time; `Last-Event-ID` resumes after it."""
    attempt: int
    stage: Stage
    detail: str
    """What is being done, for a person."""
    case: str | None
    worker: str
    """Who said so; empty where it was the service itself."""
    at: datetime


class SubmissionDetail(SubmissionSummary):
    """Everything known about one submission but its source and its plan."""

    entry: str
    position: int | None
    """Place in the queue, from 1; None unless it is queued."""
    usual_seconds: float | None
    """Median time from submission to verdict of the latest like it; None when it is finished, or
    there were none."""
    stages: tuple[StageEntry, ...]
    """Oldest first."""
    report: Report | None
    """None until it is finished."""
    plan_bytes: int | None
    """Size of the launch plan that can be downloaded; None where there is none."""
    source_visible: bool = True
    """Whether you may see its source; otherwise the report lacks everything that quotes it."""


class SubmissionPage(Schema):
    """Part of the list of submissions, newest first."""

    items: tuple[SubmissionSummary, ...]
    next_cursor: str | None
    """`cursor` of the next page; None on the last."""


class SubmissionFilter(Schema):
    """Which submissions a list holds; None means any."""

    task: TaskName | None = None
    device: DeviceName | None = None
    user: User | None = None
    stage: Stage | None = None
    verdict: Verdict | None = None
    label: Label | None = None
    contest: ContestName | None = None
    """That it was made for."""


class BoardEntry(Schema):
    """A user's best accepted submission."""

    rank: int
    """One more than the number of entries that are surely faster, and never better than that of
    an entry with a better score; surely faster is whose interval ends below the other's."""
    tied: bool
    """Whether another entry has the same rank."""
    user: str
    submission: str
    score: float
    """Geometric mean of the benchmark cases' microseconds, over all sittings."""
    low: float
    """Lower end of the score's 95 % interval."""
    high: float
    behind: float
    """Times the best score of the board; 1 for the best."""
    sittings: int
    """How many measurements of its plan the score rests on."""
    finished_at: datetime
    """When the submission was judged."""


class HeldEntry(Schema):
    """A submission that was accepted, and failed when it was measured again."""

    user: str
    submission: str
    reason: str


class Board(Schema):
    """The ranking of a task's current version on a device, best first."""

    task: str
    task_version: int
    device: DeviceName
    harness: int
    """Version of the clock; what another one measured is on no board but its own."""
    entries: tuple[BoardEntry, ...]
    total: int
    """Users on the whole board; `entries` may be its top only."""
    outdated: int
    """Users who stand only with what an earlier version of the clock measured."""
    held: tuple[HeldEntry, ...]
    """The latest submissions that do not count because a later measurement was not accepted."""


class BoardRecord(Schema):
    """A submission that was faster than all before it."""

    user: str
    submission: str
    score: float
    """As it stands now, over all sittings."""
    finished_at: datetime


class BoardHistory(Schema):
    """How the best time of a board came down, and how far it could."""

    task: str
    task_version: int
    device: DeviceName
    harness: int
    floor: float | None
    """Geometric mean over the benchmark cases of the microseconds that the datasheet's bandwidth
    and peak need; None where nothing is counted."""
    records: tuple[BoardRecord, ...]
    """The first first, at most the latest 200."""


class OverallEntry(Schema):
    """A user's place over all tasks."""

    rank: int
    """One more than the number of users who surely have more points, and never better than that of
    one with more points."""
    tied: bool
    user: str
    points: float
    """Sum over the tasks of best score / own score: at most 1 for each, 0 for one not solved."""
    low: float
    """With the far end of each score's 95 % interval."""
    high: float
    solved: int
    """Tasks on whose boards the user stands."""
    firsts: int
    """Tasks of which the user has the best score."""


class Overall(Schema):
    """Places over all tasks, or those of a course, on a device; the most points first."""

    device: DeviceName
    track: str | None
    tasks: tuple[str, ...]
    """Those that count, each with its present version and the present clock."""
    entries: tuple[OverallEntry, ...]
    total: int
    """Users on any of the boards; `entries` may be the top only."""


class Component(Schema):
    """A part that the service depends on."""

    ok: bool
    detail: str
    """What it is; or what is wrong and what to do."""


class QueueLength(Schema):
    """Jobs that wait in one queue; None where Redis does not answer."""

    name: str
    waiting: int | None


class Health(Schema):
    """The state of the installation, as far as this process can see it."""

    status: Literal["ok", "degraded", "down"]
    """`down`: nothing can be stored; `degraded`: stored, but not judged for now."""
    version: str
    database: Component
    redis: Component
    redis_embedded: bool
    """Whether the service runs its own Redis server."""
    workers: tuple[WorkerInfo, ...]
    queues: tuple[QueueLength, ...]
    measured_devices: tuple[DeviceName, ...]
    """GPU models that a worker has ever measured on here, the latest first."""
    ceilings: dict[DeviceName, Ceilings] = {}
    """What a GPU of each model reached when its worker last started."""
    unsafe: bool
    """Whether a worker runs submissions in an incomplete jail."""
    banners: tuple[str, ...]
    """Sentences that every page must show."""
