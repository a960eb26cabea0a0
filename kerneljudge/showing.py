"""Submissions, reports and boards as text: tables in a terminal, plain lines elsewhere."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kerneljudge.figures import Ratio, geometric_mean, interval, microseconds, rate, ratios
from kerneljudge.payloads import Board, CaseResult, Report, Submission

_GOOD = ("accepted", "checked")


def verdict_text(verdict: str) -> Text:
    """In its colour."""
    colour = "green" if verdict in _GOOD else "yellow" if verdict == "cancelled" else "red"
    return Text(verdict, style=f"bold {colour}")


def show_submission(console: Console, submission: Submission, address: str) -> None:
    """Verdict, reason, places in the source, and the table of cases."""
    assert submission.verdict is not None
    line = Text.assemble(verdict_text(submission.verdict), f"  {submission.task}")
    if submission.score is not None:
        line.append(f"  {microseconds(submission.score)} µs")
    line.append(f"  {address}/submissions/{submission.id}", style="dim")
    console.print(line, soft_wrap=True)
    if submission.reason:
        console.print(Text(submission.reason), soft_wrap=True)
    if submission.report is not None:
        _diagnostics(console, submission.report)
        _cases(console, submission.report)
        for caveat in submission.report.caveats:
            console.print(Text(f"note: {caveat}", style="dim"), soft_wrap=True)


def show_comparison(console: Console, first: Submission, second: Submission) -> None:
    """Cases of two submissions side by side; ratios above 1 say that the second is slower."""
    assert first.report is not None
    assert second.report is not None
    found = ratios(first.report, second.report)
    if not found:
        console.print("no case was timed in both")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("case", first.id, second.id, "ratio", "95 %", ""):
        table.add_column(heading, justify="left" if heading in ("case", "") else "right")
    for ratio in found:
        table.add_row(*_ratio_row(ratio))
    console.print(table)
    mean = geometric_mean(ratio.ratio for ratio in found)
    console.print(f"{second.id} takes {mean:.3f} times as long as {first.id}", highlight=False)
    if first.report.harness != second.report.harness:
        console.print("the two were timed by different versions of the clock: compare with care")


def show_board(console: Console, board: Board) -> None:
    """Ranks with their intervals."""
    if not board.entries:
        console.print(f"nobody has been accepted in {board.task} on {board.device} yet")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("rank", "user", "µs", "x best", "submission"):
        table.add_column(
            heading, justify="right" if heading in ("rank", "µs", "x best") else "left"
        )
    for entry in board.entries:
        rank = f"{entry.rank}{'=' if entry.tied else ' '}"
        score, behind = microseconds(entry.score), f"{entry.behind:.3f}"
        table.add_row(rank, Text(entry.user), score, behind, entry.submission)
    console.print(table)


def _diagnostics(console: Console, report: Report) -> None:
    for diagnostic in report.diagnostics:
        place = f"line {diagnostic.line}: " if diagnostic.line else ""
        console.print(Text(f"{place}{diagnostic.message}"), soft_wrap=True)
        if diagnostic.remedy:
            console.print(Text(f"  {diagnostic.remedy}"), soft_wrap=True)


def _cases(console: Console, report: Report) -> None:
    wrong = [case for case in report.cases if case.verdict not in _GOOD]
    timed = [case for case in report.cases if case.timing]
    for case in wrong:
        label = Text.assemble(f"{case.case}: ", verdict_text(case.verdict), f" {case.reason}")
        console.print(label, soft_wrap=True)
    if not timed:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("case", "µs", "", "x torch", "roofline", "rate"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in timed:
        table.add_row(*_case_row(case))
    console.print(table)


def _case_row(case: CaseResult) -> tuple[str, ...]:
    timing = case.timing
    assert timing is not None
    torch = "" if timing.speedup is None else f"{timing.speedup:.2f}"
    share = f"{timing.roofline * 100:.0f} %"
    time = microseconds(timing.microseconds)
    return (case.case, time, interval(timing), torch, share, rate(timing))


def _ratio_row(ratio: Ratio) -> tuple[str, ...]:
    first, second = (microseconds(t.microseconds) for t in (ratio.first, ratio.second))
    return (
        ratio.case,
        first,
        second,
        f"{ratio.ratio:.3f}",
        f"{ratio.low:.3f} to {ratio.high:.3f}",
        "" if ratio.verdict == "same" else ratio.verdict,
    )
