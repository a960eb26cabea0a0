"""`python -m workers` where it must not start."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.stack import ROOT


def start(data_dir: Path, *wrapper: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*wrapper, sys.executable, "-m", "workers"],
        cwd=ROOT,
        env=os.environ | {"KERNELJUDGE_DATA_DIR": str(data_dir)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root has a capability to give up")
def test_a_host_that_cannot_hold_a_jail_says_so_once(tmp_path: Path) -> None:
    ended = start(tmp_path, "setpriv", "--bounding-set", "-sys_admin")
    assert ended.returncode == 1
    assert ended.stderr.count("untrusted code is refused") == 1
    assert "missing pidns (required)" in ended.stderr
    assert "remedy: as root, grant CAP_SYS_ADMIN" in ended.stderr


def test_a_folder_that_serves_other_workers_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "build.sock").touch()
    with (tmp_path / "run" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = start(tmp_path)
    assert ended.returncode == 1
    assert "KERNELJUDGE_DATA_DIR" in ended.stderr
    assert (tmp_path / "run" / "build.sock").exists()
