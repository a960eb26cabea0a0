"""`kerneljudge login` and `logout`."""

import sys

import click

from kerneljudge import login as logins
from kerneljudge.client import DEFAULT_URL, Client
from kerneljudge.commands import failed
from kerneljudge.errors import JudgeError
from kerneljudge.login import Login


@click.command()
@click.argument("url", default=DEFAULT_URL)
@click.option("--token-stdin", is_flag=True, help="Read the token from standard input.")
def login(url: str, token_stdin: bool) -> None:
    """Remember the judge at URL and a token for it.

    The token is asked for without showing it; make one on your page of the judge. Leave it empty
    for a judge without accounts.
    """
    if token_stdin:
        token = sys.stdin.readline().strip()
    else:
        token = click.prompt("Token", default="", hide_input=True, show_default=False).strip()
    try:
        with Client(url, token or None) as client:
            client.submissions(limit=1)
    except JudgeError as error:
        raise failed(error) from None
    logins.save(Login(url.rstrip("/"), token or None))
    click.echo(f"Remembered in {logins.path()}.")


@click.command()
def logout() -> None:
    """Forget the judge and the token."""
    click.echo("Forgotten." if logins.forget() else "There was nothing to forget.")
