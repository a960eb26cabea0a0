"""The command `kerneljudge tasks check`: needs this source tree and its jails, no service."""

import dataclasses
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from kernels.catalog import Catalog, CatalogError, UnknownTask
from workers import servers
from workers.jail import JailRefused
from workers.settings import Settings
from workers.task_check import TaskCheck


@click.command("check")
@click.argument("names", nargs=-1)
@click.option("--seeds", default=20, show_default=True, help="Judge each solution so often.")
def check_tasks(names: tuple[str, ...], seeds: int) -> None:
    """Test the tasks NAMES, or all: references, tolerances, and each file's verdict.

    Builds for the GPU and runs on the CPU interpreter.
    """
    try:
        catalog = Catalog(Settings.load().tasks_dir)
        folders = [catalog[name] for name in names or catalog]
        with _jails() as settings:
            wrong = sum(_told(TaskCheck(folder, settings, seeds)) for folder in folders)
    except (CatalogError, UnknownTask, JailRefused) as error:
        raise click.ClickException(str(error)) from None
    if wrong:
        raise click.ClickException(f"{wrong} things are wrong")


@contextmanager
def _jails() -> Iterator[Settings]:
    """Settings under which the three fork servers run, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        settings = dataclasses.replace(Settings.load(), data_dir=Path(folder))
        for server in (
            servers.start_build(settings),
            servers.start_interpret(settings),
            servers.start_measure(settings, None),
        ):
            stack.callback(server.stop)
        yield settings


def _told(check: TaskCheck) -> int:
    """Print every finding; how many problems there are."""
    wrong = 0
    for finding in check.run():
        wrong += bool(finding.problem)
        mark = "FAIL" if finding.problem else "ok  "
        click.echo(f"{mark} {check.folder.task.name}/{finding.subject} {finding.problem}".rstrip())
    return wrong
