"""Commands that read: tasks, report, compare, board, plan."""

import json
from pathlib import Path

from kernels.catalog import Catalog
from tests.client.conftest import Run
from tests.client.judge import Judge


def submitted(run: Run, source: Path) -> str:
    """Id of a new finished submission."""
    result = run("submit", source, "--task", "softmax", "--json")
    return str(json.loads(result.stdout)["id"])


def test_tasks(run: Run) -> None:
    listed = run("tasks", "list").output
    assert all(name in listed for name in Catalog())
    assert [task["name"] for task in json.loads(run("tasks", "list", "--json").output)] == list(
        Catalog()
    )


def test_a_report_is_shown_again(run: Run, judge: Judge, source: Path) -> None:
    name = submitted(run, source)
    assert "accepted  softmax" in run("report", name).output
    assert json.loads(run("report", name, "--json").output)["id"] == name
    assert run("report", "nothing").exit_code == 2


def test_two_submissions_are_compared(run: Run, judge: Judge, source: Path) -> None:
    first = submitted(run, source)
    judge.report = "softmax-accepted-three_pass"
    second = submitted(run, source)
    text = run("compare", first, second).output
    row = next(line for line in text.splitlines() if line.startswith("hidden_4096"))
    assert row.endswith("slower")
    body = json.loads(run("compare", first, second, "--json").output)
    assert body["ratio"] > 1
    assert all(case["low"] <= case["ratio"] <= case["high"] for case in body["cases"])
    same = json.loads(run("compare", first, first, "--json").output)
    assert abs(same["ratio"] - 1) < 1e-9


def test_what_was_not_measured_is_not_compared(run: Run, judge: Judge, source: Path) -> None:
    first = submitted(run, source)
    judge.report = "softmax-wrong_answer-no_maximum"
    second = submitted(run, source)
    result = run("compare", first, second)
    assert result.exit_code == 2
    assert "was not measured (wrong_answer)" in result.output


def test_the_board(run: Run, judge: Judge, source: Path) -> None:
    submitted(run, source)
    assert "85.79" in run("board", "softmax").output
    assert json.loads(run("board", "softmax", "--json").output)["entries"][0]["rank"] == 1
    assert "nobody has been accepted" in run("board", "matmul", "--device", "H100").output
    assert run("board", "nothing").exit_code == 2


def test_a_plan_that_is_not_there(run: Run, judge: Judge, source: Path, tmp_path: Path) -> None:
    result = run("plan", "get", submitted(run, source), tmp_path / "plan")
    assert result.exit_code == 2
    assert not (tmp_path / "plan").exists()
