"""Commands that only read: `tasks`, `report`, `compare`, `board`, `plan get`."""

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kerneljudge.client import Client
from kerneljudge.commands import print_json, speaks_to_service
from kerneljudge.figures import geometric_mean, ratios
from kerneljudge.payloads import Submission
from kerneljudge.showing import show_board, show_comparison, show_submission

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _console() -> Console:
    return Console(highlight=False)


@click.command("list")
@_JSON
@speaks_to_service
def tasks(client: Client, as_json: bool) -> None:
    """List the tasks of the judge."""
    if as_json:
        print_json(client.raw("/tasks"))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for task in client.tasks():
        table.add_row(Text(task.name), task.difficulty, Text(task.summary))
    _console().print(table)


@click.command()
@click.argument("submission")
@_JSON
@speaks_to_service
def report(client: Client, submission: str, as_json: bool) -> None:
    """Show what is known about SUBMISSION."""
    if as_json:
        print_json(client.raw(f"/submissions/{submission}"))
        return
    found = client.submission(submission)
    if found.finished:
        show_submission(_console(), found, client.url)
    else:
        _console().print(f"{found.id} is {found.stage}: kerneljudge watch {found.id}")


@click.command()
@click.argument("first")
@click.argument("second")
@_JSON
@speaks_to_service
def compare(client: Client, first: str, second: str, as_json: bool) -> None:
    """Compare two measured submissions of one task, case by case."""
    before, after = _measured(client, first), _measured(client, second)
    if before.task != after.task:
        raise click.UsageError(f"{first} is for {before.task}, {second} for {after.task}")
    if not as_json:
        show_comparison(_console(), before, after)
        return
    assert before.report is not None
    assert after.report is not None
    found = ratios(before.report, after.report)
    cases = [{"case": r.case, "ratio": r.ratio, "low": r.low, "high": r.high} for r in found]
    print_json({"cases": cases, "ratio": geometric_mean(r.ratio for r in found)})


@click.command()
@click.argument("task")
@click.option("--device", default="H200", show_default=True, help="GPU model.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@_JSON
@speaks_to_service
def board(client: Client, task: str, device: str, limit: int, as_json: bool) -> None:
    """Show the ranking of TASK."""
    if as_json:
        print_json(client.raw(f"/boards/{task}/{device}", limit=limit))
    else:
        show_board(_console(), client.board(task, device, limit))


@click.command("get")
@click.argument("submission")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@speaks_to_service
def get_plan(client: Client, submission: str, file: Path) -> None:
    """Save SUBMISSION's launch plan as FILE, for `kerneljudge plan show`."""
    file.write_bytes(client.plan(submission))


def _measured(client: Client, name: str) -> Submission:
    submission = client.submission(name)
    if submission.score is None or submission.report is None:
        state = submission.verdict or submission.stage
        raise click.UsageError(f"{name} was not measured ({state}), so it cannot be compared")
    return submission
