"""Whose sources one may see, and what remains of a submission for whoever may not."""

from dataclasses import replace

import pytest

from app.accounts import Caller
from app.accounts.callers import NOBODY, VISITOR, scopes_of
from app.errors import Forbidden, NotFound
from app.main import Parts
from app.roles import Role, Scope
from app.service import Service
from app.settings import Sources
from kernels.contract import Diagnostic, Verdict
from tests.app.judging import (
    SOURCE,
    beat,
    consume,
    judge,
    payload,
    publisher,
    report,
    say_built,
    submit,
)

ADA = Caller("ada", scopes_of(Role.PARTICIPANT))
BOB = Caller("bob", scopes_of(Role.PARTICIPANT))
ADMIN = Caller("boss", frozenset(Scope))


@pytest.fixture
def finished(parts: Parts) -> str:
    """A submission of ada's with everything that quotes its source."""
    name = submit(parts, "ada").id
    say_built(parts, name, b"plan")
    told = {"diagnostics": (Diagnostic(message="x = y", line=4),), "log": "I print my source"}
    given = report(payload(parts, name), Verdict.WRONG_ANSWER).model_copy(update=told)
    publisher(parts, name).report(given)
    consume(parts)
    return name


def seen_by(parts: Parts, caller: Caller, rule: Sources = "own") -> Service:
    settings = replace(parts.service.settings, sources=rule)
    return replace(parts.service, settings=settings, caller=caller)


def test_authors_and_admins_see_all(parts: Parts, finished: str) -> None:
    for caller in (ADA, ADMIN):
        service = seen_by(parts, caller)
        detail = service.submission_detail(finished)
        assert detail.report is not None
        assert detail.report.log
        assert detail.report.diagnostics
        assert detail.source_visible
        assert detail.plan_bytes == 4
        assert service.submission_source(finished) == SOURCE
        assert service.submission_plan(finished) == b"plan"


@pytest.mark.parametrize("caller", [BOB, VISITOR])
def test_others_see_the_outcome_alone(parts: Parts, finished: str, caller: Caller) -> None:
    service = seen_by(parts, caller)
    detail = service.submission_detail(finished)
    assert detail.report is not None
    assert (detail.verdict, detail.report.reason) == (Verdict.WRONG_ANSWER, "it is wrong_answer")
    assert detail.report.cases
    assert not detail.source_visible
    assert detail.plan_bytes is None
    text = detail.model_dump_json()
    assert "x = y" not in text
    assert "I print" not in text
    for read in (service.submission_source, service.submission_plan):
        with pytest.raises(Forbidden):
            read(finished)


def test_an_unfinished_submission_hides_as_much(parts: Parts) -> None:
    name = submit(parts, "ada").id
    with pytest.raises(Forbidden):
        seen_by(parts, BOB).submission_source(name)
    with pytest.raises(NotFound):
        seen_by(parts, BOB).submission_source("nothing")


def test_an_installation_may_show_all_sources(parts: Parts, finished: str) -> None:
    assert seen_by(parts, BOB, "all").submission_source(finished) == SOURCE
    assert seen_by(parts, VISITOR, "all").submission_source(finished) == SOURCE
    with pytest.raises(Forbidden):
        seen_by(parts, NOBODY, "all").submission_source(finished)


def test_an_installation_may_show_sources_to_who_solved_the_task(
    parts: Parts, finished: str
) -> None:
    service = seen_by(parts, BOB, "solved")
    with pytest.raises(Forbidden) as refused:
        service.submission_source(finished)
    assert "Solve" in refused.value.next_step
    beat(parts.connection, name="m", role="measure", device="H200")
    judge(parts, "bob", 10)
    assert service.submission_source(finished) == SOURCE
    with pytest.raises(Forbidden):
        seen_by(parts, VISITOR, "solved").submission_source(finished)
