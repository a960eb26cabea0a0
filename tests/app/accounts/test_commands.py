"""What an operator does on the command line."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import commands
from app.accounts import Accounts, Throttle
from app.settings import Settings
from app.store import Store, audit
from tests.app.accounts.house import PASSWORD


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "var", accounts="invite")


@pytest.fixture
def accounts(settings: Settings) -> Iterator[Accounts]:
    settings.data_dir.mkdir()
    store = Store(settings.database_address)
    yield Accounts(settings, store, Throttle(store))
    store.close()


def run(settings: Settings, monkeypatch: pytest.MonkeyPatch, *words: str, stdin: str = "") -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    return commands.run(commands.parser().parse_args(words), settings)


def test_the_first_admin_invites_and_gets_a_new_password(
    settings: Settings,
    accounts: Accounts,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(settings, monkeypatch, "create-admin", "ada", "--stdin", stdin=PASSWORD + "\n") == 0
    signed_in = accounts.sign_in("ada", PASSWORD, None)
    assert accounts.of_browser(signed_in.secret).is_admin
    assert run(settings, monkeypatch, "invite", "--uses", "2") == 0
    address, _, secret = capsys.readouterr().out.split()[-1].rpartition("=")
    assert address.startswith(f"http://127.0.0.1:{settings.port}/")
    accounts.sign_up("bob", PASSWORD, secret, None)
    assert (
        run(settings, monkeypatch, "reset-password", "bob", "--stdin", stdin="x" * 9 + "yz1") == 0
    )
    accounts.sign_in("bob", "x" * 9 + "yz1", None)
    with accounts.store.read() as session:
        acts = [(act.user, act.act, act.about) for act in audit.page(session, {}, None, 9)]
    assert acts == [
        ("command line", "set password", "bob"),
        ("command line", "make invitation", "1"),
        ("command line", "make account", "ada"),
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("create-user", "Ada", "--stdin"), "lower-case"),
        (("create-user", "local", "--stdin"), "reserved"),
        (("reset-password", "nobody", "--stdin"), "no account"),
        (("invite", "--uses", "0"), "uses"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_sentence(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    told: str,
) -> None:
    assert run(settings, monkeypatch, *words, stdin=PASSWORD) == 1
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""


def test_a_short_password_and_a_taken_name_are_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(settings, monkeypatch, "create-user", "ada", "--stdin", stdin="short\n") == 1
    assert run(settings, monkeypatch, "create-user", "ada", "--stdin", stdin=PASSWORD) == 0
    assert run(settings, monkeypatch, "create-user", "ada", "--stdin", stdin=PASSWORD) == 1
    assert "already" in capsys.readouterr().err
