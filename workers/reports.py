"""Reports of an attempt, from what its stages answered."""

import importlib.metadata
import math
import platform
from datetime import UTC, datetime
from typing import Any, Protocol

from kernels.contract import (
    HARNESS_VERSION,
    CaseResult,
    DeviceName,
    Durations,
    Environment,
    Report,
    Verdict,
    limits,
    strongest,
)
from kernels.contract.wire import Failure


class Judged(Protocol):
    """What a report is about."""

    @property
    def id(self) -> str:
        """The submission."""

    @property
    def attempt(self) -> int:
        """Which attempt at judging or measuring it."""

    @property
    def task(self) -> str:
        """Name of the task."""

    @property
    def task_version(self) -> int:
        """Version of the task."""

    @property
    def device(self) -> DeviceName:
        """GPU model it was built for."""


def failed(submission: Judged, failure: Failure, **facts: Any) -> Report:
    """The report of a submission that could not be built or run."""
    return _report(
        submission,
        verdict=Verdict(failure.verdict),
        reason=failure.reason,
        **facts | {"diagnostics": failure.diagnostics},
    )


def judge_error(submission: Judged, reason: str, **facts: Any) -> Report:
    """The report of an attempt that the judge itself could not finish."""
    return _report(submission, verdict=Verdict.JUDGE_ERROR, reason=reason[:500], **facts)


def judged(
    submission: Judged,
    cases: tuple[CaseResult, ...],
    failure: Failure | None = None,
    **facts: Any,
) -> Report:
    """The report over all cases: the strongest verdict counts, and a `failure` more than any."""
    if failure is not None:
        return failed(submission, failure, cases=cases, **facts)
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


def environment(worker: str, jail: str) -> Environment:
    """The versions on this host; those of the GPU are the measurer's to say."""
    return Environment(
        triton=version("triton"),
        torch=version("torch"),
        python=platform.python_version(),
        jail=jail[:500],
        worker=worker,
    )


def version(package: str) -> str:
    """Version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _report(submission: Judged, *, verdict: Verdict, **facts: Any) -> Report:
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
        harness=HARNESS_VERSION,
        finished_at=datetime.now(UTC),
        **facts,
    )


def shorten(text: str) -> str:
    """Head and tail of a long text, with a line between that says what was left out."""
    if len(text) <= limits.LOG_BYTES:
        return text
    half = limits.LOG_BYTES // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
