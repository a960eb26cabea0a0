"""What participants learn of hidden cases: that there are some, and whether they passed."""

from dataclasses import dataclass
from typing import Self

from app.schemas import SubmissionDetail, SubmissionSummary
from kernels.contract import CaseResult, Report, Task

_FAILED = "did not pass; what it is about is hidden"


@dataclass(frozen=True)
class HiddenCases:
    """The hidden cases of a task, under the names that are shown instead of theirs."""

    shown_as: dict[str, str]

    @classmethod
    def of(cls, task: Task | None) -> Self:
        """Those of a task; none of a task that is not there any more."""
        hidden = [case.name for case in task.cases if case.hidden] if task else []
        return cls({name: f"hidden_{number}" for number, name in enumerate(hidden, 1)})

    def detail(self, detail: SubmissionDetail) -> SubmissionDetail:
        """A submission without their inputs and figures."""
        if not self.shown_as:
            return detail
        stages = tuple(
            stage.model_copy(update={"case": self._name(stage.case) if stage.case else None})
            for stage in detail.stages
        )
        report = None if detail.report is None else self.report(detail.report)
        known = {"reason": self.reason(detail.reason), "stages": stages, "report": report}
        return detail.model_copy(update=known)

    def summary(self, summary: SubmissionSummary) -> SubmissionSummary:
        """A line of a list."""
        return summary.model_copy(update={"reason": self.reason(summary.reason)})

    def report(self, report: Report) -> Report:
        """A report in which they have a name, a kind and a verdict, and no more."""
        if not self.shown_as:
            return report
        reason = self.reason(report.reason)
        known = {
            "cases": tuple(map(self._result, report.cases)),
            "kernels": tuple(
                kernel.model_copy(update={"cases": tuple(map(self._name, kernel.cases))})
                for kernel in report.kernels
            ),
            "reason": reason,
            "diagnostics": report.diagnostics if reason == report.reason else (),
        }
        return report.model_copy(update=known)

    def reason(self, reason: str) -> str:
        """A reason, which begins with the case that it is about."""
        name = reason.partition(":")[0]
        return f"{self.shown_as[name]}: {_FAILED}" if name in self.shown_as else reason

    def _name(self, case: str) -> str:
        return self.shown_as.get(case, case)

    def _result(self, result: CaseResult) -> CaseResult:
        if result.case not in self.shown_as:
            return result
        return CaseResult.model_construct(
            case=self.shown_as[result.case],
            kind=result.kind,
            verdict=result.verdict,
            reason="" if result.verdict.passed else _FAILED,
        )
