"""Commands that only read: `tasks`, `list`, `report`, `compare`, `board`."""

import click
from rich.table import Table
from rich.text import Text

from kerneljudge.client import Client
from kerneljudge.commands import print_json, speaks_to_service
from kerneljudge.showing import console, show_board, show_comparison, show_list, show_submission

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


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
    console().print(table)


@click.command("list")
@click.option("--task", help="For one task.")
@click.option("--device", help="For one GPU model.")
@click.option("--verdict", help="With one verdict, such as accepted.")
@click.option("--stage", help="In one stage: queued, building, measuring, finished.")
@click.option("--label", help="With one label, such as a branch.")
@click.option("--contest", help="Made for one contest.")
@click.option("--user", help="Somebody else's.")
@click.option("--all", "everybody", is_flag=True, help="Everybody's.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 200))
@_JSON
@speaks_to_service
def list_submissions(
    client: Client,
    /,
    user: str | None,
    everybody: bool,
    limit: int,
    as_json: bool,
    **filters: str | None,
) -> None:
    """List your submissions, the newest first."""
    if user is not None and everybody:
        raise click.UsageError("--user and --all exclude each other")
    whose = None if everybody else user or client.me()
    if as_json:
        wanted = {name: value for name, value in filters.items() if value is not None}
        mine = {} if whose is None else {"user": whose}
        print_json(client.raw("/submissions", limit=limit, **wanted, **mine)["items"])
        return
    found = client.submissions(limit=limit, user=whose, **filters)
    if found:
        show_list(console(), found)
    else:
        console().print("there are none that fit: kerneljudge submit FILE --task TASK")


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
        show_submission(console(), found, client.url, kernels=True)
    else:
        console().print(f"{found.id} is {found.stage}: kerneljudge watch {found.id}")


@click.command()
@click.argument("first")
@click.argument("second")
@_JSON
@speaks_to_service
def compare(client: Client, first: str, second: str, as_json: bool) -> None:
    """Compare two finished submissions for one task: times, kernels and sources."""
    if as_json:
        print_json(client.raw(f"/comparisons/{first}/{second}"))
    else:
        show_comparison(console(), client.compare(first, second))


@click.command()
@click.argument("task")
@click.option("--device", help="GPU model; by default the one that the judge measures on.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@_JSON
@speaks_to_service
def board(client: Client, task: str, device: str | None, limit: int, as_json: bool) -> None:
    """Show the ranking of TASK, and where the project's own best solution would stand."""
    device = device or _device(client, task)
    if as_json:
        print_json(client.raw(f"/boards/{task}/{device}", limit=limit))
    else:
        found = client.board(task, device, limit)
        show_board(console(), found, client.house_entry(found))


def _device(client: Client, task: str) -> str:
    """The only one that is measured on; where there is none, the one that is built for."""
    measured = client.devices()
    if len(measured) > 1:
        raise click.UsageError(
            f"boards differ by GPU: name one of {', '.join(measured)} (--device)"
        )
    return measured[0] if measured else str(client.raw(f"/tasks/{task}")["devices"][0])
