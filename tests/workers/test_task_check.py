"""`kerneljudge tasks new` makes a task that `tasks check` finds right, and `check` its faults."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kernels.fixtures import fixtures
from kernels.new_task import make, new_task
from workers.commands import check_tasks


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
