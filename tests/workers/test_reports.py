"""Reports from what the stages answered."""

from kernels.contract import CaseResult, Diagnostic, Submission, Verdict, limits
from kernels.contract.wire import Failure
from tests.contract.test_report import TIMING
from workers import reports


def case(name: str, verdict: Verdict, **facts: object) -> CaseResult:
    return CaseResult.model_validate({"case": name, "kind": "test", "verdict": verdict, **facts})


def test_the_strongest_verdict_counts_and_gives_the_reason(submission: Submission) -> None:
    report = reports.judged(
        submission,
        (
            case("one", Verdict.CHECKED),
            case("two", Verdict.WRONG_ANSWER, reason="element 3 is off"),
            case("three", Verdict.MEMORY_VIOLATION, reason="wrote behind y"),
        ),
    )
    assert report.verdict is Verdict.MEMORY_VIOLATION
    assert report.reason == "three: wrote behind y"
    assert report.score is None


def test_the_score_is_the_geometric_mean_of_the_timed_cases(submission: Submission) -> None:
    faster = TIMING.model_copy(update={"microseconds": 2.5})
    timed = [
        CaseResult(case=name, kind="benchmark", verdict=Verdict.ACCEPTED, timing=timing)
        for name, timing in (("one", TIMING), ("two", faster))
    ]
    report = reports.judged(submission, (*timed, case("tiny", Verdict.ACCEPTED)))
    assert report.verdict is Verdict.ACCEPTED
    assert report.score is not None
    assert abs(report.score - 5.0) < 1e-9


def test_a_failure_keeps_its_lines(submission: Submission) -> None:
    failure = Failure(
        verdict="build_error",
        reason="NameError",
        diagnostics=(Diagnostic(message="name 'x' is not defined", line=3),),
    )
    report = reports.failed(submission, failure, log="y" * 200_000)
    assert report.diagnostics[0].line == 3
    assert len(report.log) <= limits.LOG_BYTES + 100
    assert "left out" in report.log
