"""Participants learn the verdict of a hidden case; neither its name, its inputs nor a figure."""

from dataclasses import replace
from typing import cast

import pytest

from app.accounts import Caller
from app.accounts.callers import scopes_of
from app.main import Parts
from app.reruns.presenting import sitting_report
from app.roles import Role, Scope
from kernels.catalog import Catalog, TaskFolder
from kernels.contract import CaseResult, Diagnostic, Error, Mismatch, Task, Verdict
from tests.app.judging import consume, payload, publisher, report, submit

ADA = Caller("ada", scopes_of(Role.PARTICIPANT))
ADMIN = Caller("boss", frozenset(Scope))
SECRETS = ("secret_case", "4711", "0.123", "its sizes")
FAILED = CaseResult(
    case="secret_case",
    kind="test",
    verdict=Verdict.WRONG_ANSWER,
    reason="3 of 4711 elements are off",
    errors=(Error(output="y", error=0.123, allowed=0.1, baseline=0.1),),
    mismatch=Mismatch(
        output="y", distribution="normal", count=3, total=4711, first_index=(0,), first_got="1",
        first_expected="2", worst_index=(0,), worst_got="1", worst_expected="2",
    ),
)  # fmt: skip
PASSED = FAILED.model_copy(update={"verdict": Verdict.CHECKED, "reason": "", "mismatch": None})


@pytest.fixture
def hiding(parts: Parts, catalog: Catalog) -> Parts:
    """A service whose softmax has a hidden case."""
    folder = catalog["softmax"]
    task = folder.task
    secret = task.cases[0].model_copy(update={"name": "secret_case", "hidden": True})
    with_secret = Task.model_validate({**dict(task), "cases": (*task.cases, secret)})
    known = cast(Catalog, {**catalog, "softmax": TaskFolder(with_secret, folder.path)})
    return replace(parts, service=replace(parts.service, catalog=known))


def finish(parts: Parts, case: CaseResult) -> str:
    name = submit(parts, "ada").id
    given = report(payload(parts, name), case.verdict)
    told = {
        "cases": (case.model_copy(update={"case": "c"}) if case is PASSED else case, case),
        "reason": f"{case.case}: {case.reason}" if case.reason else "",
        "diagnostics": (Diagnostic(message="its sizes are told"),),
    }
    publisher(parts, name).report(given.model_copy(update=told))
    consume(parts)
    return name


def test_a_participant_sees_that_it_failed(hiding: Parts) -> None:
    name = finish(hiding, FAILED)
    service = replace(hiding.service, caller=ADA)
    detail = service.submission_detail(name)
    assert detail.report is not None
    result = detail.report.cases[-1]
    assert (result.case, result.verdict) == ("hidden_1", Verdict.WRONG_ANSWER)
    assert detail.reason.startswith("hidden_1: did not pass")
    said = [
        detail.model_dump_json(),
        service.list_submissions().model_dump_json(),
        sitting_report(service, name, 0).model_dump_json(),
    ]
    for text in said:
        assert not [secret for secret in SECRETS if secret in text]
    assert type(detail.report).model_validate_json(detail.report.model_dump_json())


def test_other_cases_are_left_as_they_are(hiding: Parts) -> None:
    name = finish(hiding, PASSED)
    detail = replace(hiding.service, caller=ADA).submission_detail(name)
    assert detail.report is not None
    shown, hidden = detail.report.cases
    assert (shown.case, shown.errors[0].error) == ("c", 0.123)
    assert (hidden.case, hidden.verdict, hidden.errors) == ("hidden_1", Verdict.CHECKED, ())
    assert detail.report.diagnostics


def test_admins_see_all(hiding: Parts) -> None:
    name = finish(hiding, FAILED)
    detail = replace(hiding.service, caller=ADMIN).submission_detail(name)
    assert detail.report is not None
    assert detail.report.cases[-1] == FAILED
