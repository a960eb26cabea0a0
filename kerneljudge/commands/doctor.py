"""`kerneljudge doctor`: looks at this machine's part of an installation."""

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

import click
from rich.console import Console
from rich.text import Text

from kerneljudge.commands import NOT_ACCEPTED, print_json

GROUP = "kerneljudge.checks"
_COLOURS = {"ok": "green", "warning": "yellow", "failure": "bold red"}


class Finding(Protocol):
    """What was looked at, and what to do about it."""

    @property
    def subject(self) -> str:
        """What it is."""

    @property
    def state(self) -> str:
        """`ok`, `warning` or `failure`."""

    @property
    def detail(self) -> str:
        """What was seen."""

    @property
    def remedy(self) -> str:
        """What to do; empty where all is well."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> None:
    """Look at settings, database, Redis, disk, jail and GPUs, and say what to mend.

    Reads the same environment as the service and the workers. Exit code 1 if something is broken.
    """
    found = [(point.name, finding) for point in _points() for finding in _look(point.load())]
    if as_json:
        fields = ("subject", "state", "detail", "remedy")
        print_json([{"part": p} | {f: getattr(x, f) for f in fields} for p, x in found])
    else:
        _show(Console(highlight=False), found)
    if any(finding.state == "failure" for _, finding in found):
        click.get_current_context().exit(NOT_ACCEPTED)


def _points() -> list[EntryPoint]:
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    if not points:
        raise click.ClickException("only the client is installed here: there is nothing to look at")
    return points


def _look(look: Callable[[], Iterable[Finding]]) -> Iterable[Finding]:
    return look()


def _show(console: Console, found: list[tuple[str, Finding]]) -> None:
    part = ""
    for name, finding in found:
        if name != part:
            console.print(Text(name, style="bold"))
            part = name
        line = Text.assemble("  ", (f"{finding.state:8}", _COLOURS[finding.state]))
        line.append(f" {finding.subject}: {finding.detail}")
        console.print(line, soft_wrap=True)
        if finding.remedy:
            console.print(Text(f"           {finding.remedy}"), soft_wrap=True)
