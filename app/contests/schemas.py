"""Payloads about contests."""

from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, AwareDatetime, Field, StringConstraints

from app.schemas import BoardEntry, ContestName, Label, Schema, TaskName
from kernels.contract import DeviceName
from kernels.contract.rerun import MOST_PLANS, MOST_ROUNDS, RerunState

Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", min_length=1, max_length=4000)]
Page = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=20_000)]
Secret = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
TeamName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{1,31}$")]
"""As an account's name, so that no team looks like somebody else in letters alone."""


@lru_cache(maxsize=1)
def zones() -> frozenset[str]:
    """IANA names of the time zones that are known here."""
    return frozenset(available_timezones())


def _known_zone(name: str) -> str:
    if name not in zones():
        raise ValueError("no such time zone is known; give an IANA name such as Europe/Berlin")
    return name


def _plausible(moment: datetime) -> datetime:
    if not 2000 <= moment.year <= 2200:
        raise ValueError("the year must be between 2000 and 2200")
    return moment


Zone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_known_zone)]
Moment = Annotated[AwareDatetime, AfterValidator(_plausible)]


class Phase(StrEnum):
    """Where a contest is."""

    UPCOMING = "upcoming"
    RUNNING = "running"
    ENDED = "ended"
    """Nothing more can be submitted; the standings are not final."""
    CLOSED = "closed"
    """The final standings are stored."""


class ContestRequest(Schema):
    """A contest to be made."""

    name: ContestName
    """Part of its address; never changed."""
    title: Label
    description: Page = ""
    """In Markdown."""
    tasks: Annotated[tuple[TaskName, ...], Field(min_length=1, max_length=20)]
    device: DeviceName
    zone: Zone = "UTC"
    """IANA name of the time zone that pages show times in."""
    starts_at: Moment
    ends_at: Moment
    """From then on nothing can be submitted."""
    frozen_at: Moment | None = None
    """What is submitted from then on shows on no board until the contest is closed."""
    invited_only: bool = False
    """Whether one joins with a code; otherwise every account may."""
    team_size: Annotated[int, Field(ge=1, le=50)] = 1
    """Most accounts in a team; 1 for none."""
    hourly_limit: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Submissions of an entrant within an hour, beside each account's own quotas."""
    final_top: Annotated[int, Field(ge=1, le=MOST_PLANS)] = 10
    """How many entrants of each task are measured again after the end."""
    final_rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] = 3
    """How often each of them."""
    open_sources: bool = False
    """Whether everybody may see the sources once the contest is closed."""


class ContestChange(Schema):
    """What hosts change; what is left out stays."""

    title: Label | None = None
    description: Page | None = None
    zone: Zone | None = None
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    frozen_at: Moment | None = None
    """null: not frozen."""
    hourly_limit: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """null: no limit."""
    final_top: Annotated[int, Field(ge=1, le=MOST_PLANS)] | None = None
    final_rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = None
    open_sources: bool | None = None


class ContestSummary(Schema):
    """A contest, as a list shows it."""

    name: str
    title: str
    device: DeviceName
    tasks: tuple[str, ...]
    zone: str
    starts_at: datetime
    ends_at: datetime
    frozen_at: datetime | None
    phase: Phase
    invited_only: bool
    team_size: int
    entrants: int


class ContestPage(Schema):
    """Part of the list of contests, the latest first."""

    items: tuple[ContestSummary, ...]
    next_cursor: str | None
    """`cursor` of the next page; None on the last."""


class Announcement(Schema):
    """What the hosts tell everybody."""

    at: datetime
    text: str


class Question(Schema):
    """A question, as whoever may see it does."""

    id: int
    at: datetime
    text: str
    answer: str | None
    public: bool
    """Whether everybody sees it."""
    entrant: str | None
    """Who asked; None to others."""


class Part(Schema):
    """What the caller competes as."""

    entrant: str
    members: tuple[str, ...]
    disqualified: str
    """Why it is on no board; empty if it is not disqualified."""
    used: int
    """Submissions within the hour."""


class ContestDetail(ContestSummary):
    """A contest with what the caller may know."""

    description: str
    hourly_limit: int | None
    final_top: int
    final_rounds: int
    open_sources: bool
    announcements: tuple[Announcement, ...]
    """The latest first."""
    questions: tuple[Question, ...]
    """One's own, and those that were answered to all; to hosts all. The latest first."""
    part: Part | None
    """None for who does not take part."""


class NewInvite(Schema):
    """The code that one joins with, which is shown this once."""

    invite: str | None
    """None where every account may join."""


class NewContest(ContestDetail):
    """A contest that was just made."""

    invite: str | None
    """The code that one joins with, shown this once; None where every account may join."""


class JoinRequest(Schema):
    """How to take part."""

    invite: Secret | None = None
    team: TeamName | None = None
    """Name of a new team."""
    code: Secret | None = None
    """What one joins a team with, as whoever made it was told."""


class Joined(Schema):
    """The caller's part, once it is taken."""

    part: Part
    code: str | None
    """What others join this new team with; shown this once."""


class Left(Schema):
    """What became of a part that was given up."""

    entrant: str
    stays: bool
    """Whether others compete as this entrant; what was made for it is theirs then. Otherwise it
    is on no board, until somebody comes back."""
    bound: bool
    """Whether the caller can only come back as this entrant, since submissions were made for it."""


class Entrant(Schema):
    """Who competes."""

    number: int
    name: str
    members: tuple[str, ...]
    joined_at: datetime
    disqualified: bool
    reason: str
    """Why; empty to all but its members and hosts."""


class Disqualification(Schema):
    """Takes an entrant off the boards, or puts it back."""

    reason: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=500)]
    """Shown to its members; an empty one puts it back."""


class Words(Schema):
    """An announcement, or a question."""

    text: Text


class Answer(Schema):
    """To a question."""

    text: Text
    public: bool = False
    """Whether everybody sees question and answer, without who asked."""


class ContestBoard(Schema):
    """The entrants' best accepted submissions for one task."""

    task: str
    task_version: int
    harness: int
    entries: tuple[BoardEntry, ...]
    """`user` is the entrant; less is better."""


class Total(Schema):
    """An entrant's place over all tasks."""

    rank: int
    """One more than the number of entrants who surely have more points, and never better than
    that of one with more points."""
    tied: bool
    entrant: str
    points: float
    """Sum over the tasks of the best score of the task / the entrant's own."""
    low: float
    """From the upper ends of the scores' 95 % intervals."""
    high: float
    by_task: dict[str, float]
    """Points of each task that it solved."""


class OwnBest(Schema):
    """The caller's best submission for a task."""

    submission: str
    score: float
    low: float
    high: float


class Standings(Schema):
    """All boards of a contest, and the places that follow from them."""

    contest: str
    device: DeviceName
    at: datetime
    """When they were worked out."""
    final: bool
    """Whether they will never change again."""
    frozen: bool
    """Whether what was submitted from the freeze on is left out."""
    totals: tuple[Total, ...]
    boards: tuple[ContestBoard, ...]
    """One for each task."""
    unmeasured: dict[str, tuple[str, ...]] = {}
    """In final standings by task, submissions that were to be measured again and were not."""
    own: dict[str, OwnBest] = {}
    """The caller's best by task, frozen or not; empty in final standings."""


class FinalRerun(Schema):
    """The measuring of one task's best after the end."""

    rerun: str
    task: str
    state: RerunState


class Finals(Schema):
    """How far the end is."""

    reruns: tuple[FinalRerun, ...]
    missing: dict[str, tuple[str, ...]]
    """By task, submissions among the best that were not measured again yet."""

    @property
    def under_way(self) -> tuple[str, ...]:
        """Tasks whose best are being measured, or wait for it."""
        going = {r.task for r in self.reruns if r.state in (RerunState.QUEUED, RerunState.RUNNING)}
        return tuple(sorted(going))


class CloseRequest(Schema):
    """Stores the final standings."""

    unmeasured: bool = False
    """Close although some of the best were not measured again, or are being measured."""
