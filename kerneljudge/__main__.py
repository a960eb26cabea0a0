"""The command `kerneljudge`.

Its own commands speak to a service. What needs more than the client (the catalogue, a jail) is
found by the entry points of the group `kerneljudge.commands`, whose names are paths such as
`plan.show`, so that a client alone offers only what it can do.
"""

from importlib.metadata import entry_points

import click

GROUP = "kerneljudge.commands"


class Branch(click.Group):
    """A group that also has the commands of the entry points below its path."""

    def __init__(self, path: str = "", **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # click's own keywords
        self.path = path

    def list_commands(self, context: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted({*super().list_commands(context), *self._installed()})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """A command by name; imports what an entry point names only now."""
        own = super().get_command(context, name)
        if own is not None or name not in self._installed():
            return own
        path = f"{self.path}{name}"
        found = {point.name: point for point in entry_points(group=GROUP)}
        if path not in found:
            return Branch(f"{path}.", name=name, help=_HELP.get(path))
        command = found[path].load()
        assert isinstance(command, click.Command)
        return command

    def _installed(self) -> set[str]:
        names = (point.name for point in entry_points(group=GROUP))
        return {n.removeprefix(self.path).split(".")[0] for n in names if n.startswith(self.path)}


_HELP = {"plan": "Look at launch plans."}


@click.group(cls=Branch, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kerneljudge")
def main() -> None:
    """Judge Triton kernels: submit, wait, compare, and look at what was built."""


if __name__ == "__main__":
    main()
