"""A report arranged for reading: what went wrong beside the source, what was measured by case."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

from app.errors import NotFound
from app.pages.charts import Charts, charts_of
from app.pages.listing import MOST_LINES, Line, excerpt, lines
from app.pages.reruns import Again, again_of
from app.pages.why import Why, why
from app.schemas import Board, BoardEntry, CaseDetail, SubmissionDetail, TaskDetail
from app.service import Service
from kernels.contract import DEVICES, CaseResult, Device, Diagnostic, Report


@dataclass(frozen=True)
class Finding:
    """A diagnostic with the lines of the source around it."""

    diagnostic: Diagnostic
    excerpt: tuple[Line, ...]


@dataclass(frozen=True)
class Place:
    """Where a submission stands on its board."""

    entry: BoardEntry
    total: int


@dataclass(frozen=True)
class ReportView:
    """Everything that the page of a finished submission shows."""

    report: Report
    findings: tuple[Finding, ...]
    tests: tuple[CaseResult, ...]
    benchmarks: tuple[CaseResult, ...]
    task_cases: dict[str, CaseDetail]
    """What the cases pass, by name; hidden cases and those of older versions are not there."""
    listing: tuple[Line, ...] | None
    """None where the source has too many lines for a listing."""
    source: str
    speedup: float | None
    """Geometric mean over the benchmark cases, times the torch reference."""
    roofline: float | None
    """Geometric mean of the shares of the hardware's limit."""
    reached: float | None
    """The same of the shares of what this GPU reached when its worker started."""
    place: Place | None
    best: str | None
    """The board's best submission, to compare with; None if it is this one or there is none."""
    best_times: dict[str, float]
    """Microseconds of the board's first entry, by case."""
    house_times: dict[str, float]
    """Microseconds of the house entry, by case."""
    why: tuple[Why, ...]
    charts: Charts
    limits: Device
    again: Again | None
    """What was done with its plan after it was judged."""


def view_of(service: Service, detail: SubmissionDetail, report: Report) -> ReportView:
    """Gather what belongs to a report; blocks on the database."""
    source = service.submission_source(detail.id) if detail.source_visible else ""
    marked = frozenset(found.line for found in report.diagnostics if found.line)
    numbered = lines(source, marked)
    task = _task(service, detail.task)
    timings = [case.timing for case in report.cases if case.timing is not None]
    board = service.board(detail.task, detail.device) if task and timings else None
    rate = task.cost.rate if task else "fp32"
    best = _best(service, board) if board else {}
    house = _house(service, report) if task and timings else {}
    return ReportView(
        report=report,
        findings=tuple(
            Finding(found, excerpt(numbered, found.line or 0)) for found in report.diagnostics
        ),
        tests=tuple(case for case in report.cases if case.kind == "test"),
        benchmarks=tuple(case for case in report.cases if case.kind == "benchmark"),
        task_cases={case.name: case for case in task.cases} if task else {},
        listing=numbered if len(numbered) <= MOST_LINES else None,
        source=source,
        speedup=_mean(timing.speedup for timing in timings),
        roofline=_mean(timing.roofline for timing in timings),
        reached=_mean(timing.reached for timing in timings),
        limits=DEVICES[report.device],
        again=again_of(service, detail, report) if task else None,
        place=_place(board, detail) if board else None,
        best=_other_best(board, detail) if board else None,
        best_times=best,
        house_times=house,
        why=why(report, rate),
        charts=charts_of(report, rate, best, house),
    )


def _task(service: Service, name: str) -> TaskDetail | None:
    try:
        return service.task_detail(name)
    except NotFound:  # the task was taken away; its submissions can still be read
        return None


def _best(service: Service, board: Board) -> dict[str, float]:
    """Microseconds of the board's first entry, by case."""
    if not board.entries:
        return {}
    return _times(service.submission_detail(board.entries[0].submission).report)


def _house(service: Service, report: Report) -> dict[str, float]:
    """The same of the house entry; of another version of the task there is none."""
    record = service.records.get((report.task, report.device))
    known = record is not None and record.report.task_version == report.task_version
    return _times(record.report) if record is not None and known else {}


def _times(report: Report | None) -> dict[str, float]:
    timed = [(case.case, case.timing) for case in report.cases if case.timing] if report else []
    return {case: timing.microseconds for case, timing in timed}


def _other_best(board: Board, detail: SubmissionDetail) -> str | None:
    best = board.entries[0].submission if board.entries else detail.id
    return None if best == detail.id else best


def _place(board: Board, detail: SubmissionDetail) -> Place | None:
    found = [entry for entry in board.entries if entry.submission == detail.id]
    return Place(found[0], board.total) if found else None


def _mean(values: Iterable[float | None]) -> float | None:
    """Geometric mean; None unless every value is there and positive."""
    known = list(values)
    positive = [value for value in known if value]
    if not known or len(positive) < len(known):
        return None
    return exp(sum(map(log, positive)) / len(positive))
