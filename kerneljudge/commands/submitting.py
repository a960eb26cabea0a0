"""`kerneljudge submit` and what follows a submission: `watch`, `cancel`."""

import os
from pathlib import Path

import click
from rich.console import Console

from kerneljudge.annotations import annotations
from kerneljudge.client import Client
from kerneljudge.commands import NOT_ACCEPTED, print_json, speaks_to_service
from kerneljudge.junit import junit
from kerneljudge.payloads import Submission
from kerneljudge.progress import watch as watch_stages
from kerneljudge.showing import console, show_submission
from kerneljudge.thresholds import Percent, conditions

_SOURCE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=_SOURCE)
@click.option("--task", required=True, help="What it solves: a name of `tasks list`.")
@click.option("--device", help="GPU model; by default one that the judge measures on.")
@click.option("--entry", help="Function to call; by default the task's, usually solve.")
@click.option("--label", help="A name to find this submission by, such as the branch.")
@click.option("--contest", help="A contest that you take part in, and that this is made for.")
@click.option("--check-only", is_flag=True, help="Run the test cases only, on the CPU; no rank.")
@click.option("--wait/--no-wait", default=True, help="Wait for the verdict (default), or not.")
@click.option("--json", "as_json", is_flag=True, help="Print the submission as JSON.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="Write JUnit XML.")
@click.option(
    "--annotate/--no-annotate",
    default=None,
    help="Mark failing lines for GitHub; by default where GITHUB_ACTIONS is true.",
)
@click.option("--min-speedup", type=click.FloatRange(min=0), help="Times as fast as torch.")
@click.option("--max-regression", type=Percent(), help="Such as 2%, against --against.")
@click.option(
    "--against",
    default="board",
    show_default=True,
    help="`board`, `label` (the last accepted one of it), or a submission.",
)
@speaks_to_service
def submit(
    client: Client,
    file: Path,
    task: str,
    device: str | None,
    entry: str | None,
    label: str | None,
    contest: str | None,
    check_only: bool,
    wait: bool,
    as_json: bool,
    junit_file: Path | None,
    annotate: bool | None,
    min_speedup: float | None,
    max_regression: float | None,
    against: str,
) -> None:
    """Submit FILE and wait for its verdict.

    Exit code 0: accepted (or checked, where no GPU measures) and every condition met; 1: not; 2:
    wrong usage; 3: the service failed. Stages and tables go to standard error with --json.
    """
    if not wait and (min_speedup, max_regression, junit_file) != (None, None, None):
        raise click.UsageError("conditions and --junit need the verdict: leave out --no-wait")
    if check_only and (min_speedup, max_regression) != (None, None):
        raise click.UsageError("what is only checked has no times to set conditions for")
    if max_regression is not None and against == "label" and label is None:
        raise click.UsageError("--against label needs a --label, such as the branch's name")
    out = console(stderr=as_json)
    submission = client.submit(
        _source(file),
        task,
        device=device,
        entry=entry,
        label=label,
        contest=contest,
        check_only=check_only,
    )
    if not wait:
        _say_submitted(out, client, submission, as_json)
        return
    submission = watch_stages(client, out, submission.id)
    show_submission(out, submission, client.url)
    judged = conditions(
        client,
        submission,
        min_speedup=min_speedup,
        max_regression=max_regression,
        against=against,
        label=label,
    ) if submission.passed else []  # fmt: skip
    for met, sentence in judged:
        told = "condition met" if met else "condition not met"
        out.print(f"{told}: {sentence}", soft_wrap=True, markup=False)
    unmet = [sentence for met, sentence in judged if not met]
    if junit_file is not None:
        junit_file.write_text(junit(submission, client.url, unmet), encoding="utf-8")
    if annotate or (annotate is None and os.environ.get("GITHUB_ACTIONS") == "true"):
        for line in annotations(submission, str(file), unmet):
            click.echo(line, err=as_json)
    if as_json:
        print_json(client.raw(f"/submissions/{submission.id}"))
    _end(submission, unmet)


@click.command()
@click.argument("submission")
@click.option("--json", "as_json", is_flag=True, help="Print the submission as JSON.")
@speaks_to_service
def watch(client: Client, submission: str, as_json: bool) -> None:
    """Wait for SUBMISSION's verdict; exit code as for submit."""
    out = console(stderr=as_json)
    finished = watch_stages(client, out, submission)
    show_submission(out, finished, client.url)
    if as_json:
        print_json(client.raw(f"/submissions/{submission}"))
    _end(finished, [])


@click.command()
@click.argument("submission")
@speaks_to_service
def cancel(client: Client, submission: str) -> None:
    """End SUBMISSION if it is not finished."""
    answered = client.cancel(submission)
    click.echo(f"{answered.id}: {answered.verdict or answered.stage}")


def _source(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is not UTF-8 text; save it as such") from None


def _say_submitted(out: Console, client: Client, submission: Submission, as_json: bool) -> None:
    if as_json:
        print_json(client.raw(f"/submissions/{submission.id}"))
    else:
        out.print(f"{client.url}/submissions/{submission.id}", soft_wrap=True)
        out.print(f"kerneljudge watch {submission.id}", soft_wrap=True)


def _end(submission: Submission, unmet: list[str]) -> None:
    if not submission.passed or unmet:
        click.get_current_context().exit(NOT_ACCEPTED)
