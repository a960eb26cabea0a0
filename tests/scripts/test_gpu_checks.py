"""What only a GPU can check: steps end in time, and what each gave is kept whatever comes after."""

import os
import tarfile
from pathlib import Path

import pytest

from scripts import gpu_checks
from scripts.gpu_checks import Step, main
from scripts.stack import ROOT

WRITE = "import sys; open(sys.argv[1] + '/found', 'w').write('42'); print('written')"
# A child of its own, as a service has, that outlives its parent unless it is ended too.
HANG = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
print('hanging', flush=True)
time.sleep(600)
"""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were one."""
    monkeypatch.setattr(gpu_checks, "GPU", Path("/dev/null"))


def step(name: str, *commands: tuple[str, ...], limit: float = 60, **more: tuple[str, ...]) -> Step:
    """A step of Python programs."""
    return Step(name, limit, tuple(("-c", *command) for command in commands), **more)


def kept(out: Path, name: str) -> dict[str, bytes]:
    """The files of a step's archive."""
    with tarfile.open(out / f"{name}.tar.gz") as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        return {path: file.read() for path, file in files.items() if file is not None}


def run(out: Path, *steps: Step, budget: float = 60) -> list[str]:
    """Lines of the summary."""
    main(steps, ["--out", str(out), "--budget", str(budget)])
    return (out / "summary.txt").read_text().splitlines()


@pytest.mark.usefixtures("gpu")
def test_what_a_step_wrote_and_printed_is_kept(tmp_path: Path) -> None:
    (line,) = run(tmp_path, step("first", (WRITE, "{out}"), results=("docs/measured.md",)))
    assert line.split()[:2] == ["first", "ok"]
    assert line.endswith("written")
    files = kept(tmp_path, "first")
    assert files["first/found"] == b"42"
    assert files["first/log.txt"] == b"written\n"
    assert files["first/tree/docs/measured.md"].startswith(b"# What was measured")


@pytest.mark.usefixtures("gpu")
def test_a_step_that_fails_or_hangs_stops_no_other(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    lines = run(
        tmp_path,
        step("fails", ("raise SystemExit(3)",), (WRITE, "{out}")),
        step("hangs", (HANG, str(pid)), limit=5),
        step("works", (WRITE, "{out}")),
    )
    assert ["exit code 3" in lines[0], "time limit" in lines[1], " ok " in lines[2]] == [True] * 3
    assert kept(tmp_path, "fails")["fails/found"] == b"42"
    if pid.exists():  # not on a machine that did not even start it in time
        assert not _lives(int(pid.read_text()))


@pytest.mark.usefixtures("gpu")
def test_what_cannot_run_says_why(tmp_path: Path) -> None:
    lines = run(tmp_path, step("lacking", (WRITE, "{out}"), modules=("no_such_package",)))
    assert "needs the packages no_such_package" in lines[0]
    assert "no time was left" in run(tmp_path, step("late", (WRITE, "{out}")), budget=0)[0]


@pytest.mark.skipif(gpu_checks.GPU.exists(), reason="there is a GPU")
def test_without_a_gpu_nothing_runs(tmp_path: Path) -> None:
    assert main(arguments=["--out", str(tmp_path), "--budget", "60"]) == 1
    lines = (tmp_path / "summary.txt").read_text().splitlines()
    assert len(lines) == len(gpu_checks.STEPS)
    assert all("needs a Hopper GPU" in line for line in lines)


def test_what_the_steps_name_exists() -> None:
    for each in gpu_checks.STEPS:
        for command in each.commands:
            paths = [part for part in command if part.startswith("tests/")]
            modules = [f"{command[1].replace('.', '/')}.py"] if "." in command[1] else []
            for path in (*paths, *modules, *each.results):
                assert (ROOT / path).exists(), path


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"  # ended, and not yet collected by whoever inherited it
