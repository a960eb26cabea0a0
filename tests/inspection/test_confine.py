"""A tool runs without network and privileges, and ends with whoever started it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workers.inspection.confine import TOOL_UID
from workers.settings import ROOT

PYTHON = "/usr/bin/python3"
"""One that every user may run; that of the tests may lie in a folder of root's."""

pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"needs {PYTHON}")


def confined(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "workers.inspection.confine", str(TOOL_UID), PYTHON, "-c", code]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        call, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_there_is_no_network_but_a_loopback_of_its_own(tmp_path: Path) -> None:
    code = """
import socket
with socket.socket() as listener:
    listener.bind(("127.0.0.1", 0)); listener.listen()
    socket.create_connection(listener.getsockname(), 5); print("loopback")
try:
    socket.create_connection(("192.0.2.1", 80), 5)
except OSError as error:
    print(error.strerror)
"""
    done = confined(code, tmp_path)
    assert done.stdout.splitlines() == ["loopback", "Network is unreachable"], done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_confine_as_well(tmp_path: Path) -> None:
    code = "import socket; print([name for _, name in socket.if_nameindex()])"
    done = subprocess.run(
        [PYTHON, "-m", "workers.inspection.confine", "0", PYTHON, "-c", code],
        cwd="/", env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}, user=65534, group=65534,
        extra_groups=[], capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "['lo']", done.stderr


def test_there_are_no_privileges(tmp_path: Path) -> None:
    code = """
import os
print(os.getuid() == 0, os.access("/etc/shadow", os.R_OK))
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("NoNewPrivs")])
"""
    done = confined(code, tmp_path)
    assert done.stdout.splitlines() == ["False False", "['1']"], done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives tools a user of their own")
def test_root_gives_it_a_user_of_its_own(tmp_path: Path) -> None:
    done = confined("import os; print(os.getuid(), os.getgroups())", tmp_path)
    assert done.stdout.split() == [str(TOOL_UID), "[]"], done.stderr


def test_it_ends_with_its_starter(tmp_path: Path) -> None:
    starter = f"""
import subprocess, sys
call = [sys.executable, "-m", "workers.inspection.confine", "{TOOL_UID}", "{PYTHON}", "-c",
        "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]
tool = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
print(tool.stdout.readline(), flush=True)
"""
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", starter], cwd=tmp_path, env=environment, capture_output=True,
        text=True, timeout=60, check=True,
    )  # fmt: skip
    tool = Path(f"/proc/{int(done.stdout)}")
    for _ in range(200):
        if not tool.exists():
            return
        time.sleep(0.05)
    pytest.fail("the tool goes on")
