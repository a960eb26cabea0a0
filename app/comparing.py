"""Two submissions for one task held against each other: times, compilers' figures, sources."""

import difflib
from collections.abc import Iterator
from math import exp, log

from app.comparing_plans import PlanDifference, plan_differences
from app.errors import Invalid
from app.schemas import Schema, SubmissionDetail, SubmissionSummary
from app.service import Service
from kernels.contract import CaseResult, KernelReport, Report, Timing

_MOST_LINES = 1000
"""Of a source; the time that the difference of two takes grows with their cube, to hours."""


class CaseRatio(Schema):
    """One benchmark case that was timed in both."""

    case: str
    first: float
    """Microseconds."""
    second: float
    ratio: float
    """second / first: above 1 the second is slower."""
    low: float
    """From the far ends of both 95 % intervals, so rather too wide than too narrow."""
    high: float


class KernelDifference(Schema):
    """A fact of the kernel that takes most of a case's time."""

    case: str
    fact: str
    first: str
    second: str


class Comparison(Schema):
    """Two submissions for one task."""

    first: SubmissionSummary
    second: SubmissionSummary
    cases: tuple[CaseRatio, ...]
    ratio: float | None
    """Geometric mean of the cases' ratios; None where nothing was timed in both."""
    notes: tuple[str, ...]
    """What speaks against comparing them, a sentence each."""
    kernels: tuple[KernelDifference, ...]
    """Only what differs."""
    plans: tuple[PlanDifference, ...] | None
    """Only what differs in the cases that were timed in both, or else in those that both have; None
    where the caller may not see both plans, or there are none."""
    source: tuple[str, ...] | None
    """Lines of a unified difference, of sources of at most 1,000 lines; None where the caller may
    not see both."""


def compare(service: Service, first: str, second: str) -> Comparison:
    """NotFound for a submission that is not there, Invalid for two that do not compare."""
    before, after = service.submission_detail(first), service.submission_detail(second)
    _check(before, after)
    one, other = _report(before), _report(after)
    cases = tuple(_ratios(one, other))
    return Comparison(
        first=_summary(before),
        second=_summary(after),
        cases=cases,
        ratio=exp(sum(log(case.ratio) for case in cases) / len(cases)) if cases else None,
        notes=tuple(_notes(before, after, one, other)),
        kernels=tuple(_kernels(one, other)),
        plans=plan_differences(service, before, after, _cases(one, other)),
        source=_difference(service, before, after),
    )


def _cases(first: Report, second: Report) -> list[str]:
    """Those timed in both; where there are none, those that both have."""
    timed = [case for case in _timings(first) if case in _timings(second)]
    others = {case.case for case in second.cases}
    return timed or [case.case for case in first.cases if case.case in others]


def _check(first: SubmissionDetail, second: SubmissionDetail) -> None:
    if first.task != second.task:
        raise Invalid(
            f"{first.id} is for {first.task}, {second.id} for {second.task}",
            "Compare two submissions for one task.",
        )
    for detail in (first, second):
        if detail.report is None:
            raise Invalid(f"{detail.id} is not finished", "Wait for its verdict.")


def _report(detail: SubmissionDetail) -> Report:
    assert detail.report is not None  # _check
    return detail.report


def _summary(detail: SubmissionDetail) -> SubmissionSummary:
    return SubmissionSummary(**{n: getattr(detail, n) for n in SubmissionSummary.model_fields})


def _ratios(first: Report, second: Report) -> Iterator[CaseRatio]:
    others = _timings(second)
    for case, one in _timings(first).items():
        other = others.get(case)
        if other is not None:
            yield CaseRatio(
                case=case,
                first=one.microseconds,
                second=other.microseconds,
                ratio=other.microseconds / one.microseconds,
                low=other.low / one.high,
                high=other.high / one.low,
            )


def _timings(report: Report) -> dict[str, Timing]:
    return {case.case: case.timing for case in report.cases if case.timing is not None}


def _notes(
    before: SubmissionDetail, after: SubmissionDetail, first: Report, second: Report
) -> Iterator[str]:
    if before.task_version != after.task_version:
        yield (
            f"They were judged by versions {before.task_version} and {after.task_version} of the "
            "task, whose cases may differ."
        )
    if before.device is not after.device:
        yield f"One was built for an {before.device.value}, the other for an {after.device.value}."
    if first.harness != second.harness:
        yield "They were timed by different versions of the clock, which do not compare."
    for detail, report in ((before, first), (after, second)):
        if not _timings(report):
            yield f"{detail.id} was not measured ({report.verdict.value})."


def _kernels(first: Report, second: Report) -> Iterator[KernelDifference]:
    others = {case.case: case for case in second.cases if case.timing is not None}
    for case in first.cases:
        if case.timing is None or case.case not in others:
            continue
        one, two = _facts(first, case), _facts(second, others[case.case])
        for fact, value in one.items():
            if two.get(fact, value) != value:
                yield KernelDifference(case=case.case, fact=fact, first=value, second=two[fact])


def main_kernel(report: Report, case: CaseResult) -> KernelReport | None:
    """The kernel with the largest share of a case's time; None where it is not known."""
    kernels = [k for k in report.kernels if case.case in k.cases and _chosen(k, case)]
    shares = {share.step: share.share for share in case.shares}
    return max(kernels, key=lambda kernel: shares.get(kernel.function, 0.0), default=None)


def _facts(report: Report, case: CaseResult) -> dict[str, str]:
    """Of the main kernel; empty where it is not known."""
    main = main_kernel(report, case)
    if main is None:
        return {}
    resources = main.resources
    facts = {
        "kernel": main.function,
        "configuration": main.config or "fixed",
        "warps": str(main.warps),
        "stages": str(main.stages),
        "cluster": str(main.ctas),
        "registers": str(resources.registers),
        "shared memory, bytes": str(resources.shared_bytes + resources.static_shared_bytes),
    }
    if main.occupancy is not None:
        facts["occupancy"] = f"{main.occupancy.share:.1%}"
    if main.mix is not None:
        facts["instructions"] = str(main.mix.total)
    return facts


def _chosen(kernel: KernelReport, case: CaseResult) -> bool:
    chosen = case.configs.get(kernel.function)
    return chosen is None or not kernel.config or kernel.config == chosen


def _difference(
    service: Service, before: SubmissionDetail, after: SubmissionDetail
) -> tuple[str, ...] | None:
    if not (before.source_visible and after.source_visible):
        return None
    one, other = (service.submission_source(d.id).splitlines() for d in (before, after))
    if one != other and max(len(one), len(other)) > _MOST_LINES:
        why = f"@@ not compared: one of them has more than {_MOST_LINES:,} lines @@"
        return f"--- {before.id}", f"+++ {after.id}", why
    return tuple(difflib.unified_diff(one, other, before.id, after.id, lineterm="", n=3))
