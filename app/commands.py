"""What an operator does on the command line: accounts, invitations, backups."""

import argparse
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from app.accounts import administration
from app.accounts.accounts import set_password
from app.accounts.callers import OPERATOR
from app.accounts.schemas import InviteRequest
from app.errors import Invalid, NotFound, ServiceError
from app.roles import Role
from app.settings import Settings
from app.store import Store
from app.store.backup import backup, restore
from kernels.contract.bundle import first_problem


def parser() -> argparse.ArgumentParser:
    """Of all commands; without one the service is served."""
    parser = argparse.ArgumentParser(prog="python -m app", description="Serve the judge.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, text in (
        ("create-admin", "make an account that may do everything"),
        ("create-user", "make an account"),
        ("reset-password", "set another password; sessions of the account end"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("name")
        command.add_argument("--stdin", action="store_true", help="read the password from a pipe")
    backup = commands.add_parser("backup", help="write the whole database to one file")
    backup.add_argument("file", type=Path)
    restore = commands.add_parser("restore", help="fill an empty database from a backup")
    restore.add_argument("file", type=Path)
    invite = commands.add_parser("invite", help="make an invitation and print its address")
    invite.add_argument("--uses", type=int, default=1, help="how many accounts it makes")
    invite.add_argument("--days", type=int, default=14, help="how long it is good")
    invite.add_argument("--note", default="", help="for whom it is")
    return parser


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Exit status: 0 when done, 1 with a sentence on standard error when not."""
    try:
        with _store(settings) as store:
            print(_do(arguments, store, settings))  # noqa: T201
    except ServiceError as error:
        return _refuse(f"{error.detail}. {error.next_step}")
    except ValidationError as error:
        return _refuse(first_problem(error))
    return 0


def _refuse(reason: str) -> int:
    print(f"kerneljudge: {reason}", file=sys.stderr)  # noqa: T201
    return 1


def _do(arguments: argparse.Namespace, store: Store, settings: Settings) -> str:
    if arguments.command == "backup":
        return f"{backup(store, arguments.file)} rows in {arguments.file}"
    if arguments.command == "restore":
        return f"{restore(arguments.file, store)} rows restored"
    if arguments.command == "invite":
        wanted = InviteRequest(note=arguments.note, uses=arguments.uses, days=arguments.days)
        return _address(settings) + administration.create_invite(store, OPERATOR, wanted).path
    name, password = arguments.name, _password(from_stdin=arguments.stdin)
    if arguments.command == "reset-password":
        if not set_password(store, name, password, by=OPERATOR):
            raise NotFound(f"there is no account {name[:64]!r}", "Look for it on the admin page.")
        return f"{name} has a new password"
    role = Role.ADMIN if arguments.command == "create-admin" else Role.PARTICIPANT
    administration.create_account(store, name, password, role)
    return f"{name} can sign in"


def _address(settings: Settings) -> str:
    """Of the service, as people reach it: by the first public host, else on this machine."""
    if settings.public_hosts:
        return f"https://{settings.public_hosts[0]}"
    return f"http://127.0.0.1:{settings.port}"


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise Invalid("the two passwords differ", "Try again.")
    return password


@contextmanager
def _store(settings: Settings) -> Iterator[Store]:
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(settings.database_address)
    try:
        store.migrate()
        yield store
    finally:
        store.close()
