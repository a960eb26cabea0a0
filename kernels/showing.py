"""The command `kerneljudge plan show`: needs no service and no GPU."""

from pathlib import Path

import click

from kernels.contract import Bundle, PlanRefused
from kernels.contract.printing import plan_text


@click.command("show")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def show_plan(file: Path) -> None:
    """Print the launch plan in FILE, as /api/v1/submissions/ID/plan gives it."""
    try:
        bundle = Bundle.unpack(file.read_bytes())
    except PlanRefused as error:
        raise click.ClickException(f"{file} is no launch plan that can be read: {error}") from None
    click.echo(plan_text(bundle.plan), nl=False)
