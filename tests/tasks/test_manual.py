"""The example of docs/tasks.md: a task that shows values to host code, and a solution of it."""

import re
from pathlib import Path

from kernels.catalog import Catalog, TaskFolder
from kernels.contract import Bundle, Verdict
from tests.build.builds import answer
from tests.interpret.interpreter import Interpreter
from tests.tasks.tasks import host_values, interpret

MANUAL = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
SETTINGS, REFERENCE, SOLUTION = re.findall(r"^```(?:toml|python)\n(.*?)^```", MANUAL, re.M | re.S)


def written(root: Path) -> TaskFolder:
    """The task as a folder of a catalogue."""
    folder = root / "parts"
    folder.mkdir()
    (folder / "task.toml").write_text(SETTINGS)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "statement.md").write_text("Scale parts.")
    (folder / "starter.py").write_text(SOLUTION)
    return Catalog(root)["parts"]


def test_the_example_builds_and_is_right(tmp_path: Path, interpreter: Interpreter) -> None:
    folder = written(tmp_path)
    bundle = answer(SOLUTION, folder.task, values=host_values(folder.task, folder))
    assert isinstance(bundle, Bundle), bundle
    assert [len(list(case.launches())) for case in bundle.plan.cases] == [3, 8]
    failure, cases = interpret(interpreter, folder, SOLUTION)
    assert failure is None
    assert [case.verdict for case in cases] == [Verdict.CHECKED]
