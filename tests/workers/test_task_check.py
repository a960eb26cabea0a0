"""`kerneljudge tasks new` makes a task that `tasks check` finds right, and `check` its faults."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kernels.fixtures import fixtures
from kernels.new_task import make, new_task
from workers.commands import check_tasks

GLUON = """
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def add_one(x, y, N, BLOCK: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(y + at, gl.load(x + at, mask=at < N) + 1, mask=at < N)


def solve(x):
    y = torch.empty_like(x)
    add_one[(-(-x.numel() // 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""


def test_a_new_task_passes_and_its_faults_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = CliRunner().invoke(new_task, ["add_one", "--tasks", str(tmp_path)])
    assert answer.exit_code == 0
    assert f"KERNELJUDGE_TASKS_DIR={tmp_path} kerneljudge tasks check add_one" in answer.output
    tmp_path.chmod(0o755)  # the jail's users must reach it
    folder = tmp_path / "add_one"
    wrong = folder / "verdicts" / "wrong_answer"
    half = next(f for f in fixtures(folder) if f.path.stem == "half_precision")
    (folder / "solutions" / "wrong.py").write_text(half.source)
    (wrong / "right.py").write_text((folder / "solutions" / "plain.py").read_text())
    (wrong / "of_nothing.toml").write_text(
        'what = "Made of nothing."\nof = "solutions/lost.py"\n[[changes]]\nold = "a"\nnew = "b"\n'
    )
    statement = (folder / "statement.md").read_text("utf-8")
    (folder / "statement.md").write_text(statement.replace("solve(x)", "solve(y)"), "utf-8")
    monkeypatch.setenv("KERNELJUDGE_TASKS_DIR", str(tmp_path))

    answer = CliRunner().invoke(check_tasks, ["--seeds", "1"])
    assert answer.exit_code == 1
    lines = {line.split()[1]: line for line in answer.output.splitlines() if "add_one/" in line}
    failed = {name.removeprefix("add_one/") for name in lines if lines[name].startswith("FAIL")}
    assert failed == {
        "solutions/wrong.py", "statement.md", "verdicts/wrong_answer/of_nothing.toml",
        "verdicts/wrong_answer/right.py",
    }  # fmt: skip
    assert "there is no solutions/lost.py" in lines["add_one/verdicts/wrong_answer/of_nothing.toml"]
    assert "wrong_answer: y differs" in lines["add_one/solutions/wrong.py"]
    assert "does not name `solve(x)`" in lines["add_one/statement.md"]
    assert len(lines) == 10


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x.double() + 1", "x.double( + 1", "reference.py, line 8: SyntaxError: '(' was never"),
        ("x.double() + 1", "x.double() + one", "reference.py, line 8: NameError: name 'one' is"),
        ("x.double() + 1", "x.double()[1:]", "returned (0,) for y, the task says (1,)"),
    ],
)
def test_a_broken_reference_is_told_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    answer = checked(make("add_one", tmp_path) / "reference.py", old, new, monkeypatch)
    assert "add_one/solutions" not in answer
    assert f"FAIL add_one/reference.py {said}" in answer.replace("ReferenceBroken: reference ", "")


def test_failures_of_the_judge_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make("add_one", tmp_path)
    (folder / "solutions" / "gluon.py").write_text(GLUON)
    (folder / "solutions" / "wide.py").write_text("")
    rule = "\n\ndef accept(arguments, results):\n    return results[7]\n\n\ndef baseline"
    answer = checked(folder / "reference.py", "\n\ndef baseline", rule, monkeypatch)
    faults = "judge_error: comparing results failed inside the judge; reference.py, line 12: Index"
    assert f"FAIL add_one/solutions/plain.py seed 1: {faults}" in answer
    assert "the CPU interpreter cannot run Gluon kernels: only a GPU can judge this" in answer
    assert "FAIL add_one/solutions/wide.py seed 1: rejected: it cannot be submitted" in answer


def checked(file: Path, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said of the task with a file of its own changed."""
    file.write_text(file.read_text().replace(old, new))
    file.parent.parent.chmod(0o755)  # the jail's users must reach it
    monkeypatch.setenv("KERNELJUDGE_TASKS_DIR", str(file.parent.parent))
    answer = CliRunner().invoke(check_tasks, ["--seeds", "1"])
    assert answer.exit_code == 1
    assert not answer.exception or isinstance(answer.exception, SystemExit)
    return answer.output


@pytest.mark.parametrize("name", ["Upper", "with-dash", "", "../up"])
def test_names_that_do_not_do_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="lower-case"):
        make(name, tmp_path)


def test_a_task_is_not_overwritten(tmp_path: Path) -> None:
    make("one", tmp_path)
    with pytest.raises(FileExistsError):
        make("one", tmp_path)
    answer = CliRunner().invoke(new_task, ["one", "--tasks", str(tmp_path)])
    assert answer.exit_code == 1
    assert "one exists already; choose another name" in answer.output
