"""Impossible reports cannot be made; verdicts have one order."""

from typing import Any

import pytest
from pydantic import ValidationError

from kernels.contract import CaseResult, Mismatch, Timing, Verdict, strongest
from kernels.contract.submission import Submission, check_source
from tests.contract import examples as a

TIMING = Timing(
    microseconds=10, low=9.9, high=10.1, samples=(10.0,), torch_microseconds=20,
    flops_per_second=0, bytes_per_second=1e12, floor_microseconds=8, roofline=0.8,
    bound="memory",
)  # fmt: skip
MISMATCH = Mismatch(
    output="y", distribution="normal", count=1, total=6, first_index=(0, 0), first_got="0",
    first_expected="1", worst_index=(0, 0), worst_got="0", worst_expected="1",
)  # fmt: skip


def case(**changes: Any) -> CaseResult:
    values: dict[str, Any] = {"case": "wide", "kind": "benchmark", "verdict": Verdict.CHECKED}
    return CaseResult(**(values | changes))


def accepted(**changes: Any) -> Any:
    values: dict[str, Any] = {
        "verdict": Verdict.ACCEPTED, "reason": "", "score": 10.0,
        "cases": (case(verdict=Verdict.ACCEPTED, timing=TIMING),),
    }  # fmt: skip
    return a.report(**(values | changes))


def test_precedence_is_the_designs() -> None:
    assert [v.value for v in sorted(Verdict, key=lambda v: v.precedence)] == [
        "cancelled", "judge_error", "rejected", "build_error", "timeout", "runtime_error",
        "memory_violation", "wrong_answer", "unstable", "implausible", "accepted", "checked",
    ]  # fmt: skip
    assert strongest([Verdict.ACCEPTED, Verdict.UNSTABLE, Verdict.TIMEOUT]) is Verdict.TIMEOUT


def test_a_report_survives_json() -> None:
    report = accepted()
    assert type(report).model_validate_json(report.model_dump_json()) == report
    assert report.cases[0].timing.speedup == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: a.report(reason=""), "gives a reason"),
        (lambda: accepted(reason="why"), "gives a reason"),
        (lambda: accepted(score=None), "have a score"),
        (lambda: a.report(score=1.0), "have a score"),
        (lambda: accepted(cases=()), "say which cases"),
        (lambda: accepted(score=float("nan")), "finite"),
        (
            lambda: accepted(cases=(case(verdict=Verdict.WRONG_ANSWER, reason="off"),)),
            "weaker than a case",
        ),
        (lambda: case(verdict=Verdict.ACCEPTED), "must be timed"),
        (lambda: case(timing=TIMING), "only a right result"),
        (lambda: case(mismatch=MISMATCH), "only a wrong answer"),
        (lambda: case(verdict=Verdict.WRONG_ANSWER), "gives a reason"),
    ],
)
def test_impossible_reports_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make()


@pytest.mark.parametrize(
    ("source", "message"),
    [("a\0b", "NUL"), ("\ud800", "UTF-8"), ("x" * (256 * 1024 + 1), "limit")],
)
def test_sources_no_worker_would_take(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_source(source)


def test_a_submission_holds_only_good_sources() -> None:
    values = {
        "id": "s1", "attempt": 1, "task": "softmax", "task_version": 1, "device": "H200",
        "measured": False, "entry": "solve", "source": "x = 1\n",
    }  # fmt: skip
    assert Submission.model_validate(values).source == "x = 1\n"
    with pytest.raises(ValidationError, match="NUL"):
        Submission.model_validate(values | {"source": "\0"})
