"""Reruns and sittings in the database."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app import clock
from app.pooling import estimate_of
from app.store.tables import PlanRow, RerunRow, SittingRow, SubmissionRow
from kernels.contract import Report, Verdict
from kernels.contract.rerun import RerunKind, RerunState, Turn


@dataclass(frozen=True)
class Group:
    """The rows of one rerun, each with its submission; they share all but the submission."""

    rows: tuple[tuple[RerunRow, SubmissionRow], ...]

    @property
    def first(self) -> RerunRow:
        """Says what all have in common."""
        return self.rows[0][0]

    @property
    def submissions(self) -> tuple[SubmissionRow, ...]:
        """Whose plans take part."""
        return tuple(submission for _, submission in self.rows)

    def member(self, submission: str) -> SubmissionRow | None:
        """The submission of that name, if it takes part."""
        return next((row for row in self.submissions if row.id == submission), None)

    def turns(self) -> list[Turn]:
        """Everything that is to be measured."""
        rounds = range(1, self.first.rounds + 1)
        return [Turn(submission=s.id, round=n) for n in rounds for s in self.submissions]

    def change(self, **values: object) -> None:
        """Set columns of all rows, and note that it got on."""
        for row, _ in self.rows:
            for name, value in values.items():
                setattr(row, name, value)
            row.moved_at = clock.steady()

    def end(self, state: RerunState, detail: str) -> None:
        """Set the last state."""
        self.change(state=state, detail=detail, finished_at=clock.now())


def insert(
    session: Session,
    rerun: str,
    submissions: Sequence[SubmissionRow],
    kind: RerunKind,
    rounds: int,
    user: str,
) -> None:
    """A new rerun that waits for its turn."""
    for row in submissions:
        session.add(
            RerunRow(
                id=rerun,
                submission=row.number,
                kind=kind,
                state=RerunState.QUEUED,
                attempt=1,
                rounds=rounds,
                detail="waiting for a measurer that has nothing else to do",
                user=user,
                created_at=clock.now(),
                finished_at=None,
                moved_at=clock.steady(),
                inspection=None,
            )
        )


def group(session: Session, rerun: str, *, lock: bool = False) -> Group | None:
    """A rerun; with `lock` nobody else changes it until the transaction ends."""
    query = (
        select(RerunRow, SubmissionRow)
        .join(SubmissionRow, SubmissionRow.number == RerunRow.submission)
        .where(RerunRow.id == rerun)
        .order_by(RerunRow.number)
    )
    if lock:
        query = query.with_for_update(of=RerunRow).execution_options(populate_existing=True)
    found = tuple((row, submission) for row, submission in session.execute(query))
    return Group(found) if found else None


def unfinished(session: Session) -> list[str]:
    """Reruns that have not ended, in the order in which they were asked for."""
    query = (
        select(RerunRow.id)
        .where(RerunRow.finished_at.is_(None))
        .group_by(RerunRow.id)
        .order_by(func.min(RerunRow.number))
    )
    return list(session.scalars(query))


def unfinished_of(session: Session, row: SubmissionRow, kind: RerunKind) -> str | None:
    """The rerun of that kind that a submission takes part in now."""
    mine = (RerunRow.submission == row.number, RerunRow.kind == kind)
    return session.scalar(select(RerunRow.id).where(*mine, RerunRow.finished_at.is_(None)))


def of_submission(session: Session, row: SubmissionRow, limit: int) -> list[str]:
    """The latest reruns that a submission took part in, the newest first."""
    query = select(RerunRow.id).where(RerunRow.submission == row.number)
    return list(session.scalars(query.order_by(RerunRow.number.desc()).limit(limit)))


def asked(session: Session, row: SubmissionRow) -> tuple[int, int]:
    """How many sittings, and how many inspections, were ever asked for of a submission."""
    mine = RerunRow.submission == row.number
    measured = RerunRow.kind == RerunKind.MEASURE
    sittings = session.scalar(select(func.sum(RerunRow.rounds)).where(mine, measured))
    looks = session.scalar(select(func.count()).where(mine, RerunRow.kind != RerunKind.MEASURE))
    return int(sittings or 0), int(looks or 0)


def sittings(session: Session, row: SubmissionRow) -> Sequence[SittingRow]:
    """All further measurements of a submission, oldest first."""
    mine = SittingRow.submission == row.number
    return session.scalars(select(SittingRow).where(mine).order_by(SittingRow.id)).all()


def count(session: Session, row: SubmissionRow, verdict: Verdict) -> int:
    """How many further measurements of a submission ended in a verdict."""
    mine = (SittingRow.submission == row.number, SittingRow.verdict == verdict)
    return session.scalar(select(func.count()).where(*mine)) or 0


def sitting(session: Session, row: SubmissionRow, number: int) -> str | None:
    """The report of a submission's sitting of that number, from 1, as JSON."""
    mine = SittingRow.submission == row.number
    query = select(SittingRow.body).where(mine).order_by(SittingRow.id)
    return session.scalar(query.offset(number - 1).limit(1))


def add_sitting(
    session: Session, rerun: str, row: SubmissionRow, turn: Turn, found: Report
) -> bool:
    """Keep what one turn gave; False if it is known."""
    mine = (SittingRow.rerun == rerun, SittingRow.submission == row.number)
    known = select(SittingRow.id).where(*mine, SittingRow.round == turn.round)
    if session.scalar(known) is not None:
        return False
    accepted = found.verdict is Verdict.ACCEPTED
    estimate = estimate_of(found) if accepted else None
    session.add(
        SittingRow(
            submission=row.number,
            rerun=rerun,
            round=turn.round,
            verdict=found.verdict,
            reason=found.reason.replace("\0", "\N{REPLACEMENT CHARACTER}"),
            harness=found.harness,
            score=estimate.score if estimate else None,
            low=estimate.low if estimate else None,
            high=estimate.high if estimate else None,
            finished_at=clock.now(),
            body=found.model_dump_json(),
        )
    )
    session.flush()
    return True


def done(session: Session, rerun: str) -> set[Turn]:
    """The turns of a rerun that were taken."""
    query = (
        select(SubmissionRow.id, SittingRow.round)
        .join(SubmissionRow, SubmissionRow.number == SittingRow.submission)
        .where(SittingRow.rerun == rerun)
    )
    return {Turn(submission=name, round=number) for name, number in session.execute(query)}


def plan_size(session: Session, submissions: Sequence[SubmissionRow]) -> int | None:
    """Bytes of all plans together; None if one is not stored."""
    numbers = [row.number for row in submissions]
    sizes = session.scalars(select(PlanRow.nbytes).where(PlanRow.submission.in_(numbers))).all()
    return sum(sizes) if len(sizes) == len(numbers) else None


def lock_submission(session: Session, row: SubmissionRow) -> None:
    """Let nobody else ask for a rerun of it until the transaction ends."""
    session.execute(
        select(SubmissionRow.number).where(SubmissionRow.number == row.number).with_for_update()
    )
