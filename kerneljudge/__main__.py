"""The command `kerneljudge`.

Its own commands speak to a service. What needs more than the client (the catalogue, a jail) is
found by the entry points of the group `kerneljudge.commands`, whose names are paths such as
`plan.show`, so that a client alone offers only what it can do.
"""

from importlib.metadata import entry_points

import click

from kerneljudge.commands import doctor, downloading, reading, session, submitting

GROUP = "kerneljudge.commands"


class Branch(click.Group):
    """A group that also has the commands of the entry points whose names begin with its own."""

    @property
    def path(self) -> str:
        """What their names begin with."""
        return f"{self.name}."

    def list_commands(self, context: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted({*super().list_commands(context), *self._installed()})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """A command by name; imports what an entry point names only now."""
        own = super().get_command(context, name)
        if own is not None or name not in self._installed():
            return own
        found = {point.name: point for point in entry_points(group=GROUP)}
        try:
            command = found[f"{self.path}{name}"].load()
        except ModuleNotFoundError as missing:
            return _unavailable(name, missing.name or "")
        assert isinstance(command, click.Command)
        return command

    def _installed(self) -> set[str]:
        names = (point.name for point in entry_points(group=GROUP))
        return {name.removeprefix(self.path) for name in names if name.startswith(self.path)}


def _unavailable(name: str, missing: str) -> click.Command:
    needs = f"Needs the judge's own packages ({missing} is missing): see the README."

    @click.command(name, help=needs, context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1)
    def refuse(arguments: tuple[str, ...]) -> None:
        raise click.ClickException(needs)

    return refuse


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kerneljudge")
def main() -> None:
    """Judge Triton kernels: submit, wait, compare, and look at what was built."""


@main.group(cls=Branch)
def plan() -> None:
    """Look at launch plans."""


@main.group(cls=Branch)
def tasks() -> None:
    """Look at the tasks of a judge, or make some."""


plan.add_command(downloading.get_plan)
tasks.add_command(reading.tasks)
for command in (
    session.login,
    session.logout,
    submitting.submit,
    submitting.watch,
    submitting.cancel,
    reading.list_submissions,
    reading.report,
    downloading.download,
    reading.compare,
    reading.board,
    doctor.doctor,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
