"""The jail of a judge that is not root: a user namespace around the same layers."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.jail.conftest import ENTRY, LIMITS, TESTS
from workers.jail import JailClient, Outcome, Status

NOBODY = "65534"
SOURCE = TESTS.parents[1]
PROFILE = (
    "from pathlib import Path; from workers.jail import Profile, interpreter_paths;"
    f"print(Profile('user', (*interpreter_paths(), Path('{TESTS}')), "
    "env={'PATH': '/usr/bin', 'LANG': 'C.UTF-8'}).to_json())"
)
PROBE = "from workers.jail import probe; print(probe().missing)"
# Like a server: the user must be able to start the interpreter, not only root for the user.
START_AGAIN = "import os, sys; os.execv(sys.executable, [sys.executable, '-Bc', sys.argv[1]])"


def as_nobody(*command: str) -> list[str]:
    """The command, run without root's rights where the tests have them."""
    if os.geteuid() != 0:
        return [*command]
    drop = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]
    return [*drop, *command]


def usable_python() -> str:
    """A Python that an ordinary user may run: the tests' own may lie in root's home."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    for python in (sys.executable, "/usr/bin/python3"):
        command = as_nobody(python, "-c", START_AGAIN, PROBE)
        done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout == "frozenset()\n":
            return python
    pytest.skip(f"no jail for an ordinary user here: {done.stdout}{done.stderr}")


def output_of(command: list[str]) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def socket() -> Iterator[Path]:
    """The socket of a server that runs as an ordinary user."""
    python = usable_python()
    runtime = Path(output_of(as_nobody("mktemp", "-d")))  # pytest's are closed to other users
    profile, path = runtime / "profile.json", runtime / "user.sock"
    profile.write_text(output_of(as_nobody(python, "-Bc", PROFILE)))
    arguments = ["--socket", str(path), "--profile", str(profile), "--entry", ENTRY]
    command = as_nobody(python, "-Bm", "workers.jail.server", *arguments)
    with subprocess.Popen(command, cwd=SOURCE) as process:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.02)
        yield path
        process.terminate()
    shutil.rmtree(runtime)


def run(socket: Path, request: bytes) -> Outcome:
    """One run; what never ends has a short time for it."""
    endless = request in (b"fork_bomb", b"stop_self")
    return JailClient(socket).run(request, replace(LIMITS, wall_s=2) if endless else LIMITS)


def test_honest_request(socket: Path) -> None:
    assert run(socket, b"echo hello").result == b"hello"
    assert json.loads(run(socket, b"scratch_use").result) == [[], "kept", "/scratch"]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"fork_bomb", Status.TIMEOUT),
        (b"daemon", Status.OK),
        (b"hoard", Status.MEMORY),
        (b"flood_stdout 1", Status.OUTPUT),
        (b"fill_scratch", Status.OK),
        (b"stop_self", Status.TIMEOUT),
    ],
)
def test_gluttons_are_ended(socket: Path, request_: bytes, status: Status) -> None:
    outcome = run(socket, request_)
    assert outcome.status is status
    assert outcome.wall_s < LIMITS.wall_s
    assert run(socket, b"echo next").result == b"next"


def test_init_cannot_be_signalled(socket: Path) -> None:
    outcome = run(socket, b"stop_all")
    # The kernel takes these signals and does not deliver them to the first process.
    assert outcome.status is Status.OK
    assert len(json.loads(outcome.result)) == 4


def test_limits_of_others_cannot_be_lowered(socket: Path) -> None:
    assert json.loads(run(socket, b"lower_limits_of_init").result) == {
        "init": "EPERM",
        "own": "allowed",
    }


def test_no_privileges_are_left(socket: Path) -> None:
    found = json.loads(run(socket, b"privileges").result)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(found[name][0], 16) == 0
    assert found["NoNewPrivs"] == ["1"]
    assert found["Seccomp"] == ["2"]


def test_nothing_of_the_host_is_seen(socket: Path, tmp_path: Path) -> None:
    (temporary := tmp_path / "left_here").write_text("by somebody else")
    project = str(SOURCE / "pyproject.toml")
    paths = ["/etc/passwd", str(temporary), str(socket), project, "/proc/1/environ"]
    outcomes = json.loads(run(socket, b"read " + json.dumps(paths).encode()).result)
    assert "allowed" not in outcomes.values()
    own, _, by_signal = json.loads(run(socket, b"process_ids").result)
    assert by_signal == [1, own]


def test_programs_and_network_are_closed(socket: Path) -> None:
    outcomes = json.loads(run(socket, b'execute ["/bin/sh", "/proc/self/exe"]').result)
    assert set(outcomes.values()) <= {"EACCES", "ENOENT"}
    outcomes = json.loads(run(socket, b"network 80 /nowhere").result)
    assert "allowed" not in outcomes.values()
