"""An installation that cannot start says why, and never takes another's answers for its own."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.stack import ROOT, NotReady, Part, Stack
from tests.stack.conftest import free_port


def demo(**settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scripts.demo", "--once"],
        cwd=ROOT,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        pytest.raises(NotReady, match="KERNELJUDGE_PORT"),
        Stack(tmp_path, other.getsockname()[1]),
    ):
        pass


def test_a_folder_belongs_to_one_installation(tmp_path: Path) -> None:
    with (
        Stack(tmp_path, free_port()),
        pytest.raises(NotReady, match="KERNELJUDGE_DATA_DIR"),
        Stack(tmp_path, free_port()),
    ):
        pass
    with Stack(tmp_path, free_port()):
        pass


def test_what_an_installation_keeps_is_for_its_user_alone(tmp_path: Path) -> None:
    with Stack(tmp_path / "data", free_port()) as stack:
        assert stack.data_dir.stat().st_mode & 0o077 == 0


def test_only_the_words_of_this_start_are_shown(tmp_path: Path) -> None:
    (tmp_path / "nope.log").write_text("an old complaint\n")
    with Stack(tmp_path, free_port()) as stack:
        stack.parts = [Part("nope", stack)]
        with pytest.raises(NotReady) as refusal:
            stack.wait_until_ready()
    assert "No module named nope" in str(refusal.value)
    assert "an old complaint" not in str(refusal.value)


@pytest.mark.parametrize(
    ("variable", "value"), [("KERNELJUDGE_PORT", "abc"), ("WORKER_JAIL", "off")]
)
def test_a_wrong_setting_is_named(variable: str, value: str, tmp_path: Path) -> None:
    ended = demo(KERNELJUDGE_DATA_DIR=str(tmp_path), **{variable: value})
    assert ended.returncode == 1
    assert f"the judge cannot start: {variable}={value}" in ended.stderr
    assert "Traceback" not in ended.stderr
