"""`python -m workers` where the jail would not hold."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.stack import ROOT

_WITHOUT_NAMESPACES = ("setpriv", "--bounding-set", "-sys_admin")


@pytest.mark.skipif(os.getuid() != 0, reason="only root has a capability to give up")
def test_a_host_that_cannot_hold_a_jail_says_so_once(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*_WITHOUT_NAMESPACES, sys.executable, "-m", "workers"],
        cwd=ROOT,
        env=os.environ | {"KERNELJUDGE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("untrusted code is refused") == 1
    assert "missing pidns (required)" in ended.stderr
    assert "remedy: as root, grant CAP_SYS_ADMIN" in ended.stderr
