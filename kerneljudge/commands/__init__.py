"""The commands that speak to a service, and what they share."""

import functools
import json
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import click

from kerneljudge import login
from kerneljudge.client import Client
from kerneljudge.errors import JudgeError, Refused

NOT_ACCEPTED = 1
USAGE = 2
SERVICE = 3
_UNKNOWN_CALLER = 401
_ASKED_WRONGLY = (400, 403, 404, 405, 409, 413, 415, 422)
_P = ParamSpec("_P")


class AskedWrongly(click.ClickException):
    """What was asked makes no sense to the service."""

    exit_code = USAGE


class ServiceFailed(click.ClickException):
    """The service does not answer, or cannot do it now."""

    exit_code = SERVICE


def failed(error: JudgeError) -> click.ClickException:
    """As the command ends."""
    if isinstance(error, Refused) and error.status == _UNKNOWN_CALLER:
        return AskedWrongly(f"{error.detail}. Run `kerneljudge login`, or set KERNELJUDGE_TOKEN.")
    if isinstance(error, Refused) and error.status in _ASKED_WRONGLY:
        return AskedWrongly(str(error))
    return ServiceFailed(str(error))


def speaks_to_service(
    command: Callable[Concatenate[Client, _P], None],
) -> Callable[..., None]:
    """Adds --url, and gives the command a client; turns its errors into exit codes."""

    @click.option(
        "--url", metavar="URL", help="Address of the judge; else KERNELJUDGE_URL, else the login."
    )
    @functools.wraps(command)
    def run(*args: _P.args, **settings: _P.kwargs) -> None:
        url = settings.pop("url")
        assert url is None or isinstance(url, str)
        try:
            with Client(*login.current(url)) as client:
                command(client, *args, **settings)
        except JudgeError as error:
            raise failed(error) from None

    return run


def print_json(value: Any) -> None:
    """For programs that read us."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
