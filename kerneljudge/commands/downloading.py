"""Commands that save what a submission consists of: `download`, `plan get`."""

from itertools import count
from pathlib import Path

import click

from kerneljudge.client import Client
from kerneljudge.commands import speaks_to_service
from kerneljudge.errors import Refused

_ROUTES = {
    "source": ("/source", "py"),
    "plan": ("/plan", "bundle"),
    "report": ("", "json"),
    "samples": ("/samples.csv", "csv"),
    "parquet": ("/samples.parquet", "parquet"),
    "badge": ("/badge.svg", "svg"),
}
_TEXTS = ("ttir", "ttgir", "llir", "ptx", "sass")
_ABSENT = 404
_FILE = click.Path(dir_okay=False, allow_dash=True, path_type=Path)


@click.command()
@click.argument("submission")
@click.argument("what", type=click.Choice([*_ROUTES, *_TEXTS]))
@click.argument("file", type=_FILE, required=False)
@speaks_to_service
def download(client: Client, submission: str, what: str, file: Path | None) -> None:
    """Save WHAT of SUBMISSION as FILE, by default named after it; - writes to standard output.

    What the compiler wrote (ttir, ttgir, llir, ptx, sass) is of all kernels, one after the other.
    """
    name = client.submission(submission).id
    route, ending = _ROUTES.get(what, ("", what))
    content = (
        _texts(client, name, what)
        if what in _TEXTS
        else client.download(f"/submissions/{name}{route}")
    )
    target = file or Path(f"{name}.{ending}")
    with click.open_file(str(target), "wb") as stream:
        stream.write(content)
    if str(target) != "-":
        click.echo(f"{target}: {len(content)} bytes", err=True)


@click.command("get")
@click.argument("submission")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@speaks_to_service
def get_plan(client: Client, submission: str, file: Path) -> None:
    """Save SUBMISSION's launch plan as FILE, for `kerneljudge plan show`."""
    file.write_bytes(client.plan(submission))


def _texts(client: Client, name: str, kind: str) -> bytes:
    found: list[bytes] = []
    for number in count():
        try:
            found.append(client.download(f"/submissions/{name}/kernels/{number}/{kind}.txt"))
        except Refused as refused:
            if refused.status != _ABSENT or not found:
                raise
            return b"\n".join(found)
    raise AssertionError("a plan has an end")
