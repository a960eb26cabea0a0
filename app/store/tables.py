"""The tables; migrations/ makes them, and a test keeps the two alike."""

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from kernels.contract import DeviceName, Stage, Verdict
from kernels.contract.rerun import RerunKind, RerunState

FINISHED = text("stage = 'finished'")
UNFINISHED = text("stage <> 'finished'")
"""Spelled alike in queries and in partial indexes, so that a database uses those."""

SERIAL = BigInteger().with_variant(Integer, "sqlite")  # only INTEGER counts up by itself there


class Instant(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no zone, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """With its zone."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


class Word(TypeDecorator[StrEnum]):
    """A member of an enumeration, stored as its value."""

    impl = String
    cache_ok = True

    def __init__(self, kind: type[StrEnum], length: int) -> None:
        super().__init__(length)
        self.kind = kind

    def process_bind_param(self, value: StrEnum | str | None, dialect: Dialect) -> str | None:
        """To its value; ValueError for a word that is none."""
        return None if value is None else self.kind(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        """To the member."""
        return None if value is None else self.kind(value)


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = {
        datetime: Instant(),
        float: Float(53),
        DeviceName: Word(DeviceName, 32),
        Stage: Word(Stage, 16),
        Verdict: Word(Verdict, 32),
        RerunKind: Word(RerunKind, 16),
        RerunState: Word(RerunState, 16),
    }


class SubmissionRow(Base):
    """One submission; its verdict and score are copied from its report for lists."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("user", "idempotency_key", name="submissions_idempotency"),
        Index("submissions_by_task", "task", "number"),
        Index(
            "submissions_judged",
            "task",
            "device",
            "measured",
            "number",
            sqlite_where=FINISHED,
            postgresql_where=FINISHED,
        ),
        Index("submissions_by_user", "user", "number"),
        Index("submissions_by_verdict", "verdict", "number"),
        Index("submissions_by_verdict_of_task", "verdict", "task", "number"),
        Index(
            "submissions_unfinished",
            "number",
            "stage",
            "user",
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        ),
        Index(
            "submissions_turns",
            "released",
            "device",
            "measured",
            "user",
            "number",
            "stage",
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        ),
    )

    number: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    """Order of arrival."""
    id: Mapped[str] = mapped_column(String(64), unique=True)
    """Public name."""
    user: Mapped[str] = mapped_column(String(64))
    task: Mapped[str] = mapped_column(String(64))
    task_version: Mapped[int]
    device: Mapped[DeviceName]
    measured: Mapped[bool]
    entry: Mapped[str] = mapped_column(String(128))
    stage: Mapped[Stage]
    attempt: Mapped[int]
    verdict: Mapped[Verdict | None]
    reason: Mapped[str] = mapped_column(Text)
    score: Mapped[float | None]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    moved_at: Mapped[float]
    """Steady clock when the attempt last got on."""
    idempotency_key: Mapped[str | None] = mapped_column(String(200))
    label: Mapped[str | None] = mapped_column(String(100))
    body_sha256: Mapped[str] = mapped_column(String(64))
    source: Mapped[str] = mapped_column(Text, deferred=True)
    released: Mapped[bool] = mapped_column(default=False, server_default=true())
    """Whether its user's turn has come, so that workers may have it."""
    check_only: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether the test cases alone were asked for; of what came before it was kept, False."""


class TurnRow(Base):
    """When it was last a user's turn, counted over all users."""

    __tablename__ = "turns"

    user: Mapped[str] = mapped_column(String(64), primary_key=True)
    served: Mapped[int] = mapped_column(SERIAL, index=True)


class ReportRow(Base):
    """The one report of a finished submission, as JSON."""

    __tablename__ = "reports"

    submission: Mapped[int] = mapped_column(
        SERIAL, ForeignKey("submissions.number"), primary_key=True, autoincrement=False
    )
    attempt: Mapped[int]
    body: Mapped[str] = mapped_column(Text)


class StageRow(Base):
    """One line of a submission's log."""

    __tablename__ = "stages"
    __table_args__ = (
        Index("stages_by_submission", "submission", "id"),
        UniqueConstraint("stream_id", name="stages_stream_id"),
    )

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    submission: Mapped[int] = mapped_column(SERIAL, ForeignKey("submissions.number"))
    attempt: Mapped[int]
    stage: Mapped[Stage]
    detail: Mapped[str] = mapped_column(Text)
    case: Mapped[str | None] = mapped_column(String(64))
    worker: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime]
    stream_id: Mapped[str | None] = mapped_column(String(200))
    """Stream entry it comes from, so that one read twice counts once."""


class PlanRow(Base):
    """The packed launch plan of a submission's latest attempt."""

    __tablename__ = "plans"

    submission: Mapped[int] = mapped_column(
        SERIAL, ForeignKey("submissions.number"), primary_key=True, autoincrement=False
    )
    attempt: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64))
    nbytes: Mapped[int]
    bundle: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)


class DeviceRow(Base):
    """A GPU model that a worker has measured on."""

    __tablename__ = "devices"

    name: Mapped[DeviceName] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime]
    ceilings: Mapped[str | None] = mapped_column(Text)
    """JSON: what a GPU of it reached when its worker last started."""


class StandingRow(Base):
    """The score of an accepted submission over all of its sittings."""

    __tablename__ = "standings"
    __table_args__ = (
        Index("standings_best", "task", "task_version", "device", "harness", "user", "score"),
        Index(
            "standings_held",
            "task",
            "task_version",
            "device",
            "harness",
            "submission",
            sqlite_where=text("held <> ''"),
            postgresql_where=text("held <> ''"),
        ),
        Index(
            "standings_in_time",
            "task",
            "task_version",
            "device",
            "harness",
            "finished_at",
            "submission",
            "score",
            sqlite_where=text("held = ''"),
            postgresql_where=text("held = ''"),
        ),
    )

    submission: Mapped[int] = mapped_column(
        SERIAL, ForeignKey("submissions.number"), primary_key=True, autoincrement=False
    )
    task: Mapped[str] = mapped_column(String(64))
    task_version: Mapped[int]
    device: Mapped[DeviceName]
    harness: Mapped[int]
    user: Mapped[str] = mapped_column(String(64))
    score: Mapped[float]
    low: Mapped[float]
    high: Mapped[float]
    sittings: Mapped[int]
    held: Mapped[str] = mapped_column(Text)
    """Why it does not count; empty if it does."""
    finished_at: Mapped[datetime]
    """When the submission was judged."""


class BoardRow(Base):
    """A user's best standing for a version of a task on a device, by a version of the clock."""

    __tablename__ = "board"
    __table_args__ = (
        Index("board_by_score", "task", "task_version", "device", "harness", "score"),
    )

    task: Mapped[str] = mapped_column(String(64), primary_key=True)
    task_version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    device: Mapped[DeviceName] = mapped_column(primary_key=True)
    harness: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    user: Mapped[str] = mapped_column(String(64), primary_key=True)
    submission: Mapped[str] = mapped_column(ForeignKey("submissions.id"))
    score: Mapped[float]
    low: Mapped[float]
    high: Mapped[float]
    sittings: Mapped[int]
    finished_at: Mapped[datetime]


class BoardVersionRow(Base):
    """How often a board has changed, whichever clock measured what changed it."""

    __tablename__ = "board_versions"

    task: Mapped[str] = mapped_column(String(64), primary_key=True)
    task_version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    device: Mapped[DeviceName] = mapped_column(primary_key=True)
    version: Mapped[int]


class RerunRow(Base):
    """One submission's part in a rerun; those that are measured together share an id."""

    __tablename__ = "reruns"
    __table_args__ = (
        UniqueConstraint("id", "submission", name="reruns_once"),
        Index("reruns_by_submission", "submission", "number"),
        Index(
            "reruns_open",
            "id",
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
    )

    number: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    """Order of asking."""
    id: Mapped[str] = mapped_column(String(64))
    submission: Mapped[int] = mapped_column(SERIAL, ForeignKey("submissions.number"))
    kind: Mapped[RerunKind]
    state: Mapped[RerunState]
    attempt: Mapped[int]
    rounds: Mapped[int]
    """Sittings that are asked for."""
    detail: Mapped[str] = mapped_column(Text)
    """What is being done, or why it failed."""
    user: Mapped[str] = mapped_column(String(64))
    """Who asked."""
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    moved_at: Mapped[float]
    """Steady clock when the attempt last got on."""
    inspection: Mapped[str | None] = mapped_column(Text)
    """Result of an inspection, as JSON."""


class SittingRow(Base):
    """One further measurement of a submission's plan."""

    __tablename__ = "sittings"
    __table_args__ = (
        UniqueConstraint("rerun", "submission", "round", name="sittings_once"),
        Index("sittings_by_submission", "submission", "id"),
    )

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    submission: Mapped[int] = mapped_column(SERIAL, ForeignKey("submissions.number"))
    rerun: Mapped[str] = mapped_column(String(64))
    round: Mapped[int]
    verdict: Mapped[Verdict]
    reason: Mapped[str] = mapped_column(Text)
    harness: Mapped[int]
    score: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    finished_at: Mapped[datetime]
    body: Mapped[str] = mapped_column(Text, deferred=True)
    """The report of the sitting, as JSON."""
