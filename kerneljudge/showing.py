"""Submissions, reports and boards as text: tables in a terminal, plain lines elsewhere."""

import os

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kerneljudge.figures import interval, microseconds, rate
from kerneljudge.payloads import (
    Board,
    BoardEntry,
    CaseResult,
    Comparison,
    HouseEntry,
    Kernel,
    Report,
    Submission,
)

_GOOD = ("accepted", "checked")
_WIDTH = 240
"""Characters of a line where no terminal says how many it has, as in a log of CI."""


def console(*, stderr: bool = False) -> Console:
    """Where a command prints."""
    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal and "COLUMNS" not in os.environ:
        found.width = _WIDTH
    return found


def verdict_text(verdict: str) -> Text:
    """In its colour."""
    colour = "green" if verdict in _GOOD else "yellow" if verdict == "cancelled" else "red"
    return Text(verdict, style=f"bold {colour}")


def show_submission(
    console: Console, submission: Submission, address: str, *, kernels: bool = False
) -> None:
    """Verdict, reason, places in the source, the table of cases, and of `kernels` if asked for."""
    assert submission.verdict is not None
    line = Text.assemble(verdict_text(submission.verdict), f"  {submission.task}")
    if submission.score is not None:
        line.append(f"  {microseconds(submission.score)} µs")
    line.append(f"  {address}/submissions/{submission.id}", style="dim")
    console.print(line, soft_wrap=True)
    if submission.report is None:
        _say(console, submission.reason)
    else:
        _reasons(console, submission.report)
        _cases(console, submission.report)
        if kernels:
            _kernels(console, submission.report)
        for caveat in submission.report.caveats:
            _say(console, f"note: {caveat}", "dim")
    if not submission.passed:
        _say(console, f"what it means: {address}/docs/verdicts#{submission.verdict}", "dim")


def show_comparison(console: Console, found: Comparison) -> None:
    """Times side by side, ratios above 1 say that the second is slower; then what differs."""
    first, second = found.first.id, found.second.id
    if found.cases:
        table = _table("case", first, second, "ratio", "95 %", "", left=("case", ""))
        for case in found.cases:
            table.add_row(
                case.case,
                microseconds(case.first),
                microseconds(case.second),
                f"{case.ratio:.3f}",
                f"{case.low:.3f} to {case.high:.3f}",
                "" if case.verdict == "same" else case.verdict,
            )
        console.print(table)
    else:
        _say(console, "no case was timed in both")
    if found.ratio is not None:
        _say(console, f"{second} takes {found.ratio:.3f} times as long as {first}")
    for note in found.notes:
        _say(console, f"note: {note}", "dim")
    for fact in found.kernels:
        _say(console, f"{fact.case}: {fact.fact} {fact.first} -> {fact.second}")
    for line in found.source or ():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        _say(console, line, style)


def show_list(console: Console, found: tuple[Submission, ...]) -> None:
    """One line each, the newest first."""
    table = _table("submission", "submitted", "task", "device", "", "µs", "label", right=("µs",))
    for one in found:
        state = Text(one.stage) if one.verdict is None else verdict_text(one.verdict)
        score = "" if one.score is None else microseconds(one.score)
        at = f"{one.created_at.astimezone():%Y-%m-%d %H:%M}" if one.created_at else ""
        table.add_row(one.id, at, one.task, one.device, state, score, Text(one.label or ""))
    console.print(table)


def show_board(console: Console, board: Board, house: HouseEntry | None) -> None:
    """Ranks and, without one, the house entry at the place of its score."""
    if not board.entries:
        console.print(f"nobody has been accepted in {board.task} on {board.device} yet")
    rows = [(entry.score, _row(entry)) for entry in board.entries]
    if house is not None:
        name = Text(f"house entry {house.solution}", style="dim")
        rows.append((house.score, ("- ", name, microseconds(house.score), "-", "")))
    if rows:
        table = _table("rank", "user", "µs", "x best", "submission", left=("user", "submission"))
        for _, cells in sorted(rows, key=lambda row: row[0]):
            table.add_row(*cells)
        console.print(table)


def _row(entry: BoardEntry) -> tuple[str, Text, str, str, str]:
    rank = f"{entry.rank}{'=' if entry.tied else ' '}"
    score, behind = microseconds(entry.score), f"{entry.behind:.3f}"
    return rank, Text(entry.user), score, behind, entry.submission


def _say(console: Console, sentence: str, style: str = "") -> None:
    if sentence:
        console.print(Text(sentence, style=style), soft_wrap=True)


def _table(*headings: str, left: tuple[str, ...] = (), right: tuple[str, ...] = ()) -> Table:
    """Without lines; figures are at the right, by naming either kind of column."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        at_right = heading in right if right else heading not in left
        table.add_column(heading, justify="right" if at_right else "left", overflow="fold")
    return table


def _reasons(console: Console, report: Report) -> None:
    """Each sentence once: the first reason is often that of a case or a place as well."""
    told = " ".join([*(c.reason for c in _wrong(report)), *(d.message for d in report.diagnostics)])
    if report.reason not in told:
        _say(console, report.reason)
    for diagnostic in report.diagnostics:
        place = f"line {diagnostic.line}: " if diagnostic.line else ""
        _say(console, f"{place}{diagnostic.message}")
        _say(console, f"  {diagnostic.remedy}" if diagnostic.remedy else "")


def _wrong(report: Report) -> list[CaseResult]:
    return [case for case in report.cases if case.verdict not in _GOOD]


def _cases(console: Console, report: Report) -> None:
    for case in _wrong(report):
        label = Text.assemble(f"{case.case}: ", verdict_text(case.verdict), f" {case.reason}")
        console.print(label, soft_wrap=True)
    timed = [case for case in report.cases if case.timing]
    if timed:
        table = _table("case", "µs", "", "x torch", "roofline", "rate", left=("case",))
        for case in timed:
            table.add_row(*_case_row(case))
        console.print(table)


def _kernels(console: Console, report: Report) -> None:
    """What the compiler made of each, and what it could be told."""
    if not report.kernels:
        return
    headings = ("kernel", "warps", "stages", "registers", "spilled", "shared", "occupancy", "")
    table = _table(*headings, "cases", left=("kernel", "", "cases"))
    for kernel in report.kernels:
        table.add_row(*_kernel_row(kernel))
    console.print(table)
    for function, advice in dict.fromkeys(
        (k.function, a) for k in report.kernels for a in k.advice
    ):
        _say(console, f"{function}: {advice}")


def _kernel_row(kernel: Kernel) -> tuple[Text | str, ...]:
    takes, filled = kernel.resources, kernel.occupancy
    config = f" ({kernel.config})" if kernel.config else ""
    return (
        Text(kernel.function + config),
        str(kernel.warps),
        str(kernel.stages),
        str(takes.registers),
        f"{takes.spill_store_bytes + takes.spill_load_bytes} B",
        f"{(takes.shared_bytes + takes.static_shared_bytes) / 1024:.1f} KiB",
        "" if filled is None else f"{filled.share * 100:.0f} %",
        "" if filled is None else f"by {', '.join(filled.limited_by)}",
        ", ".join(kernel.cases[:2]) + (f" and {len(kernel.cases) - 2}" if kernel.cases[2:] else ""),
    )


def _case_row(case: CaseResult) -> tuple[str, ...]:
    timing = case.timing
    assert timing is not None
    torch = "" if timing.speedup is None else f"{timing.speedup:.2f}"
    share = f"{timing.roofline * 100:.0f} %"
    time = microseconds(timing.microseconds)
    return (case.case, time, interval(timing), torch, share, rate(timing))
