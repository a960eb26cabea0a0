"""What waits for a person's judgement: submissions that a later sitting did not accept, and times
that are too good to be true."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.store.board import HELD
from app.store.tables import SittingRow, StandingRow, SubmissionRow
from kernels.contract import Verdict


def held(session: Session, limit: int) -> Sequence[tuple[SubmissionRow, str]]:
    """Submissions on no board for a later sitting, with the reason; the latest first."""
    query = select(SubmissionRow, StandingRow.held).where(HELD)
    query = query.join(StandingRow, StandingRow.submission == SubmissionRow.number)
    rows = session.execute(query.order_by(SubmissionRow.number.desc()).limit(limit))
    return [(row[0], row[1]) for row in rows]


def implausible(session: Session, limit: int) -> Sequence[SubmissionRow]:
    """Submissions that were faster than the hardware can be; the latest first."""
    query = select(SubmissionRow).where(SubmissionRow.verdict == Verdict.IMPLAUSIBLE)
    return session.scalars(query.order_by(SubmissionRow.number.desc()).limit(limit)).all()


def against(session: Session, rows: Sequence[SubmissionRow]) -> Mapping[int, list[SittingRow]]:
    """Sittings that were not accepted, by number of the submission, the first first."""
    query = select(SittingRow).where(
        SittingRow.submission.in_([row.number for row in rows]),
        SittingRow.verdict != Verdict.ACCEPTED,
    )
    found: dict[int, list[SittingRow]] = defaultdict(list)
    for sitting in session.scalars(query.order_by(SittingRow.id)):
        found[sitting.submission].append(sitting)
    return found
