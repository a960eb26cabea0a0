"""Old launch plans are deleted, but for those that are still of use."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app import clock
from app.errors import NotFound
from app.main import Parts
from app.retention import Retention
from app.store import audit
from app.store.tables import PlanRow, SubmissionRow
from kernels.contract import Verdict
from tests.app import judging


def judged(parts: Parts, user: str, verdict: Verdict, days: int) -> str:
    """A submission with a plan that was finished so many days ago."""
    name = judging.submit(parts, user).id
    given = judging.payload(parts, name)
    judging.say_built(parts, name, b"plan")
    judging.publisher(parts, name).report(judging.report(given, verdict))
    judging.consume(parts)
    finished = clock.now() - timedelta(days=days)
    with parts.store.write() as session:
        mine = SubmissionRow.id == name
        session.execute(update(SubmissionRow).where(mine).values(finished_at=finished))
    return name


def test_old_plans_go_and_ranked_ones_stay(parts: Parts) -> None:
    old = judged(parts, "ada", Verdict.CHECKED, 100)
    young = judged(parts, "ada", Verdict.CHECKED, 80)
    ranked = judged(parts, "bob", Verdict.ACCEPTED, 100)
    assert Retention(parts.store, 90).prune() == 1
    with pytest.raises(NotFound, match="no launch plan"):
        parts.service.submission_plan(old)
    assert parts.service.submission_source(old)
    assert parts.service.submission_detail(old).report is not None
    for kept in (young, ranked):
        assert parts.service.submission_plan(kept) == b"plan"
    assert Retention(parts.store, 90).prune() == 0
    with parts.store.read() as session:
        (noted,) = audit.page(session, {}, None, 9)
    assert (noted.user, noted.act, noted.detail) == (
        "service",
        "delete plans",
        '{"plans": 1, "days": 90}',
    )


def test_zero_keeps_everything(parts: Parts) -> None:
    judged(parts, "ada", Verdict.CHECKED, 10_000)
    assert Retention(parts.store, 0).prune() == 0


def test_more_than_a_batch_goes_in_one_look(parts: Parts) -> None:
    name = judged(parts, "ada", Verdict.CHECKED, 100)
    with parts.store.write() as session:
        first = session.scalar(select(SubmissionRow).where(SubmissionRow.id == name))
        assert first is not None
        fields = {c.key: getattr(first, c.key) for c in SubmissionRow.__table__.columns}
        for number in range(1, 120):
            row = SubmissionRow(**fields | {"number": first.number + number, "id": f"s{number}"})
            session.add(row)
            session.flush()
            plan = PlanRow(submission=row.number, attempt=1, sha256="0" * 64, nbytes=1, bundle=b"p")
            session.add(plan)
    assert Retention(parts.store, 90).prune() == 120
