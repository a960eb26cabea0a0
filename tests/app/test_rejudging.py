"""A source is judged again as a new submission, by its author or for them."""

import pytest

from app.accounts import Caller
from app.accounts.callers import scopes_of
from app.errors import Conflict, Forbidden
from app.main import Parts
from app.rejudging import rejudge
from app.roles import Role
from app.schemas import SubmitRequest
from app.store import audit
from kernels.contract import DeviceName, Verdict
from tests.app.judging import SOURCE, beat, consume, judge, payload, publisher, report


def test_it_is_a_new_submission_of_the_same_author(parts: Parts) -> None:
    wanted = SubmitRequest(task="softmax", source=SOURCE, device=DeviceName.H100, label="main")
    first = parts.service.submit(wanted).submission
    with pytest.raises(Conflict, match="not judged yet"):
        rejudge(parts.service, first.id)
    publisher(parts, first.id).report(report(payload(parts, first.id), Verdict.JUDGE_ERROR))
    parts.service.cancel(first.id)
    again = rejudge(parts.service, first.id)
    assert again.id != first.id
    assert (again.user, again.device, again.label) == ("local", DeviceName.H100, "main")
    assert parts.service.submission_source(again.id) == SOURCE
    with parts.store.read() as session:
        assert audit.page(session, {"act": "judge again"}, None, 9) == [], "one's own"


def test_an_admin_has_it_done_for_the_author(parts: Parts) -> None:
    first = judge(parts, "ada", 10.0)
    stranger = parts.service.on_behalf_of(Caller("eve", scopes_of(Role.PARTICIPANT)))
    with pytest.raises(Forbidden):
        rejudge(stranger, first.id)
    before = parts.service.quotas_of("ada").hourly.used
    again = rejudge(parts.service, first.id)
    assert (again.user, parts.service.quotas_of("ada").hourly.used) == ("ada", before)
    with parts.store.read() as session:
        (noted,) = audit.page(session, {"act": "judge again"}, None, 9)
    assert (noted.user, noted.about) == ("local", first.id)
    given = report(payload(parts, again.id), Verdict.ACCEPTED, microseconds=8.0)
    publisher(parts, again.id).report(given)
    consume(parts)
    (entry,) = parts.service.board("softmax", first.device).entries
    assert (entry.user, entry.submission) == ("ada", again.id)


def test_where_the_test_cases_alone_were_asked_for_they_are_again(parts: Parts) -> None:
    beat(parts.connection, name="m", role="measure", device="H200")
    checked = SubmitRequest(task="softmax", source=SOURCE, check_only=True)
    whole = SubmitRequest(task="softmax", source=SOURCE)
    for wanted, measured in ((checked, False), (whole, True)):
        first = parts.service.submit(wanted, user="ada").submission
        parts.service.cancel(first.id)
        assert rejudge(parts.service, first.id).measured is measured
        own = parts.service.submit(wanted).submission
        parts.service.cancel(own.id)
        assert rejudge(parts.service, own.id).measured is measured
