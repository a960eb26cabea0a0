"""The command `kerneljudge tasks new`: a folder to begin a task with, which passes the tests."""

import re
import shutil
from pathlib import Path

import click

from kernels.catalog import TASKS

TEMPLATE = Path(__file__).parent / "template"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def make(name: str, root: Path = TASKS) -> Path:
    """The new folder root/name; ValueError if the name does not do, FileExistsError if it is."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: a task's name has lower-case letters, digits and underscores")
    folder = root / name
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    settings = folder / "task.toml"
    title = name.replace("_", " ").capitalize()
    settings.write_text(settings.read_text("utf-8").replace("TITLE", title), "utf-8")
    return folder


@click.command("new")
@click.argument("name")
@click.option(
    "--tasks",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=TASKS,
    help="The folder of all tasks; by default the project's own.",
)
def new_task(name: str, tasks: Path) -> None:
    """Make a folder for the task NAME: x + 1, to be changed file by file."""
    try:
        folder = make(name, tasks)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    except FileExistsError:
        raise click.ClickException(f"{tasks / name} exists already; choose another name") from None
    where = "" if tasks == TASKS else f"KERNELJUDGE_TASKS_DIR={tasks.resolve()} "
    click.echo(f"{folder}: change its files, then run: {where}kerneljudge tasks check {name}")
