"""The tables of contests. What admins did and how a contest ended is only ever added to: the
database itself refuses to change it (migration 0007)."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.store.tables import SERIAL, Base
from kernels.contract import DeviceName

_NAME = String(64)


class ContestRow(Base):
    """One contest."""

    __tablename__ = "contests"

    name: Mapped[str] = mapped_column(_NAME, primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text)
    tasks: Mapped[str] = mapped_column(Text)
    """Names in order, separated by spaces."""
    device: Mapped[DeviceName]
    zone: Mapped[str] = mapped_column(_NAME)
    """IANA name of the time zone that times are shown in."""
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime]
    frozen_at: Mapped[datetime | None]
    invite: Mapped[str | None] = mapped_column(_NAME)
    """Digest of the code that one joins with; None if every account may."""
    team_size: Mapped[int]
    hourly_limit: Mapped[int | None]
    final_top: Mapped[int]
    final_rounds: Mapped[int]
    open_sources: Mapped[bool]
    created_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    """When the final standings were stored."""


class EntrantRow(Base):
    """Who competes: one account, or a team of some."""

    __tablename__ = "contest_entrants"
    __table_args__ = (UniqueConstraint("contest", "name", name="contest_entrants_once"),)

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"))
    name: Mapped[str] = mapped_column(_NAME)
    code: Mapped[str | None] = mapped_column(_NAME, unique=True)
    """Digest of what others join the team with; None for a single account."""
    disqualified: Mapped[str] = mapped_column(Text)
    """Why; empty if it is not."""
    joined_at: Mapped[datetime]


class MemberRow(Base):
    """One account's part in a contest."""

    __tablename__ = "contest_members"
    __table_args__ = (Index("contest_members_by_entrant", "entrant"),)

    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"), primary_key=True)
    user: Mapped[str] = mapped_column(_NAME, ForeignKey("users.name"), primary_key=True)
    entrant: Mapped[int] = mapped_column(SERIAL, ForeignKey("contest_entrants.id"))
    left_at: Mapped[datetime | None]
    """None as long as it takes part; the row stays, so that nobody comes back as somebody else."""


class EntryRow(Base):
    """A submission made for a contest. It refers to none: deleting one refunds no quota."""

    __tablename__ = "contest_entries"
    __table_args__ = (
        Index("contest_entries_by_contest", "contest", "submission"),
        Index("contest_entries_by_entrant", "entrant", "at"),
    )

    submission: Mapped[str] = mapped_column(_NAME, primary_key=True)
    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"))
    entrant: Mapped[int] = mapped_column(SERIAL, ForeignKey("contest_entrants.id"))
    at: Mapped[datetime]


class AnnouncementRow(Base):
    """What the hosts tell everybody."""

    __tablename__ = "contest_announcements"
    __table_args__ = (Index("contest_announcements_by_contest", "contest", "id"),)

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"))
    at: Mapped[datetime]
    text: Mapped[str] = mapped_column(Text)


class QuestionRow(Base):
    """What an entrant asks, and the answer to it."""

    __tablename__ = "contest_questions"
    __table_args__ = (Index("contest_questions_by_contest", "contest", "id"),)

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"))
    entrant: Mapped[int] = mapped_column(SERIAL, ForeignKey("contest_entrants.id"))
    at: Mapped[datetime]
    text: Mapped[str] = mapped_column(Text)
    answer: Mapped[str | None] = mapped_column(Text)
    public: Mapped[bool]
    """Whether everybody sees question and answer."""


class FinalRerunRow(Base):
    """A measuring of the best of one task after the end."""

    __tablename__ = "contest_reruns"
    __table_args__ = (Index("contest_reruns_by_contest", "contest"),)

    rerun: Mapped[str] = mapped_column(_NAME, primary_key=True)
    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"))
    task: Mapped[str] = mapped_column(_NAME)


class FinalRow(Base):
    """The final standings, as JSON; never changed."""

    __tablename__ = "contest_finals"

    contest: Mapped[str] = mapped_column(_NAME, ForeignKey("contests.name"), primary_key=True)
    at: Mapped[datetime]
    body: Mapped[str] = mapped_column(Text)


class AuditRow(Base):
    """One act of an admin; never changed."""

    __tablename__ = "audit"
    __table_args__ = (
        Index("audit_by_contest", "contest", "id"),
        Index("audit_by_user", "user", "id"),
        Index("audit_by_about", "about", "id"),
    )

    id: Mapped[int] = mapped_column(SERIAL, primary_key=True, autoincrement=True)
    at: Mapped[datetime]
    user: Mapped[str] = mapped_column(_NAME)
    contest: Mapped[str] = mapped_column(_NAME)
    """Empty outside of contests."""
    about: Mapped[str] = mapped_column(_NAME, server_default="")
    """What it was done to."""
    act: Mapped[str] = mapped_column(String(32))
    detail: Mapped[str] = mapped_column(Text)
