from datetime import timedelta

from app.main import Parts
from app.store import submissions
from tests.app.judging import judge, submit


def test_it_is_the_median_of_what_was_judged_alike(parts: Parts) -> None:
    waiting = submit(parts).id
    assert _usual(parts, waiting) is None
    for seconds in (8.0, 2.0, 4.0):
        judged = judge(parts, "ada", 10).id
        _took(parts, judged, seconds)
    assert _usual(parts, judged) is None, "it is finished"
    _took(parts, judge(parts, "ada", 10).id, 900.0, measured=True)
    cancelled = submit(parts).id
    parts.service.cancel(cancelled)
    _took(parts, cancelled, 900.0)
    assert _usual(parts, waiting) == 4.0


def _usual(parts: Parts, submission: str) -> float | None:
    return parts.service.submission_detail(submission).usual_seconds


def _took(parts: Parts, submission: str, seconds: float, **changes: bool) -> None:
    with parts.store.write() as session:
        row = submissions.by_id(session, submission)
        assert row is not None
        assert row.finished_at is not None
        row.created_at = row.finished_at - timedelta(seconds=seconds)
        for name, value in changes.items():
            setattr(row, name, value)
