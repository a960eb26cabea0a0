"""Reports of an attempt, from what its stages answered."""

import importlib.metadata
import math
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from kernels.contract import (
    CasePlan,
    CaseResult,
    Choice,
    Durations,
    Environment,
    KernelReport,
    Launch,
    Plan,
    Report,
    Submission,
    Verdict,
    limits,
    strongest,
)
from kernels.contract.wire import Failure


def failed(submission: Submission, failure: Failure, **facts: Any) -> Report:
    """The report of a submission that could not be built or run."""
    return _report(
        submission,
        verdict=Verdict(failure.verdict),
        reason=failure.reason,
        diagnostics=failure.diagnostics,
        **facts,
    )


def judge_error(submission: Submission, reason: str, **facts: Any) -> Report:
    """The report of an attempt that the judge itself could not finish."""
    return _report(submission, verdict=Verdict.JUDGE_ERROR, reason=reason[:500], **facts)


def judged(submission: Submission, cases: tuple[CaseResult, ...], **facts: Any) -> Report:
    """The report over all cases: the strongest verdict counts."""
    verdict = strongest([case.verdict for case in cases])
    reason = next((f"{c.case}: {c.reason}" for c in cases if c.verdict is verdict and c.reason), "")
    return _report(
        submission,
        verdict=verdict,
        reason=reason[:500],
        cases=cases,
        score=score(cases) if verdict in (Verdict.ACCEPTED, Verdict.IMPLAUSIBLE) else None,
        **facts,
    )


def score(cases: tuple[CaseResult, ...]) -> float:
    """Geometric mean of the timed cases' microseconds; ValueError if none was timed."""
    times = [case.timing.microseconds for case in cases if case.timing is not None]
    if not times:
        raise ValueError("no case was timed")
    return math.exp(sum(math.log(time) for time in times) / len(times))


def kernel_reports(plan: Plan) -> tuple[KernelReport, ...]:
    """Compiler facts of every kernel, with the cases and the configuration that launch it."""
    cases: dict[tuple[str, str], list[str]] = {}
    for case in plan.cases:
        for config, launch in _configured(case):
            names = cases.setdefault((launch.kernel, config), [])
            if case.case not in names:
                names.append(case.case)
    reports = []
    for (sha, config), names in list(cases.items())[: limits.KERNELS]:
        kernel = plan.kernels[sha]
        reports.append(
            KernelReport(
                function=kernel.function,
                cases=tuple(names),
                config=config,
                warps=kernel.warps,
                stages=kernel.stages,
                ctas=kernel.ctas,
                resources=kernel.resources,
            )
        )
    return tuple(reports)


def _configured(case: CasePlan) -> Iterator[tuple[str, Launch]]:
    for step in case.steps:
        if isinstance(step, Choice):
            for alternative in step.alternatives:
                for action in alternative.steps:
                    if isinstance(action, Launch):
                        yield alternative.config, action
        elif isinstance(step, Launch):
            yield "", step


def environment(worker: str, jail: str) -> Environment:
    """The versions on this host; those of the GPU are the measurer's to say."""
    return Environment(
        triton=_version("triton"),
        torch=_version("torch"),
        python=platform.python_version(),
        jail=jail[:500],
        worker=worker,
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _report(submission: Submission, *, verdict: Verdict, **facts: Any) -> Report:
    facts.setdefault("durations", Durations())
    if "log" in facts:
        facts["log"] = shorten(facts["log"])
    return Report(
        submission=submission.id,
        attempt=submission.attempt,
        task=submission.task,
        task_version=submission.task_version,
        device=submission.device,
        verdict=verdict,
        finished_at=datetime.now(UTC),
        **facts,
    )


def shorten(text: str) -> str:
    """Head and tail of a long text, with a line between that says what was left out."""
    if len(text) <= limits.LOG_BYTES:
        return text
    half = limits.LOG_BYTES // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
