"""Where the client looks for the judge and the token, and what it keeps."""

import json
from pathlib import Path

import pytest

from kerneljudge import JudgeError, login
from kerneljudge.login import Login
from tests.client.conftest import Run
from tests.pages.site import Site


def test_login_is_remembered_for_its_owner_alone(
    run: Run, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("login", site.address, "--token-stdin", input="kj_secret\n")
    assert result.exit_code == 0, result.output
    assert login.path().stat().st_mode & 0o777 == 0o600
    assert "kj_secret" not in result.output
    monkeypatch.delenv("KERNELJUDGE_URL")
    assert login.current() == Login(site.address, "kj_secret")
    assert login.current(site.address + "/") == Login(site.address, "kj_secret")
    assert run("logout").output == "Forgotten.\n"
    assert login.current() == Login("http://127.0.0.1:8000", None)


def test_a_token_goes_to_no_other_address(run: Run, site: Site) -> None:
    run("login", site.address, "--token-stdin", input="kj_secret\n")
    assert login.current("http://elsewhere") == Login("http://elsewhere", None)


def test_an_address_that_does_not_answer_is_not_remembered(run: Run) -> None:
    result = run("login", "http://127.0.0.1:9", "--token-stdin", input="\n")
    assert result.exit_code == 3
    assert not login.path().exists()


def test_a_spoilt_file_says_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path: Path = login.path()
    path.parent.mkdir(parents=True)
    for content in ("{", json.dumps([])):
        path.write_text(content)
        with pytest.raises(JudgeError, match="Run `kerneljudge login`"):
            login.current()
    assert run("tasks", "list").exit_code == 3
