"""Conditions on speed: what holds, what does not, and against what."""

from pathlib import Path

import pytest

from tests.client.conftest import Run
from tests.client.judge import Judge


def test_a_least_speedup(run: Run, judge: Judge, source: Path) -> None:
    """The geometric mean of that report is 1.96 times torch."""
    result = run("submit", source, "--task", "softmax", "--min-speedup", 1.5)
    assert result.exit_code == 0
    assert "condition met: 1.960 times as fast as torch; at least 1.5" in result.output
    result = run("submit", source, "--task", "softmax", "--min-speedup", 3)
    assert result.exit_code == 1
    assert "at least 3 is asked for" in result.output


def test_a_most_regression_against_the_last_of_a_label(
    run: Run, judge: Judge, source: Path
) -> None:
    condition = ("--label", "main", "--against", "label", "--max-regression", "2%")
    command = ("submit", source, "--task", "softmax", *condition)
    result = run(*command)
    assert result.exit_code == 0
    assert "condition met: there is nothing to compare with yet" in result.output
    judge.slower = 1.01
    result = run(*command)
    assert result.exit_code == 0
    assert "1.0 % slower than" in result.output
    judge.slower = 1.05
    result = run(*command)
    assert result.exit_code == 1
    assert "4.0 % slower than" in result.output
    other = ("submit", source, "--task", "softmax", "--label", "other", *condition[2:])
    assert run(*other).exit_code == 0


def test_against_a_submission_and_the_board(run: Run, judge: Judge, source: Path) -> None:
    made = run("submit", source, "--task", "softmax")
    name = made.output.split("/submissions/")[1].split()[0]
    judge.slower = 2.0
    for against in (name, "board"):
        limit = ("--against", against, "--max-regression", "10%")
        result = run("submit", source, "--task", "softmax", *limit)
        assert result.exit_code == 1, result.output
        assert "100.0 % slower than" in result.output


def test_what_was_not_measured_holds_no_condition(run: Run, judge: Judge, source: Path) -> None:
    made = run("submit", source, "--task", "softmax", "--no-wait", "--json")
    assert made.exit_code == 0
    judge.report = "softmax-wrong_answer-no_maximum"
    result = run("submit", source, "--task", "softmax", "--min-speedup", 1)
    assert result.exit_code == 1
    assert "condition" not in result.output, "being wrong is enough"


@pytest.mark.parametrize("share", ["two", "-1%", "%"])
def test_a_share_that_is_none(run: Run, source: Path, share: str) -> None:
    result = run("submit", source, "--task", "softmax", f"--max-regression={share}")
    assert result.exit_code == 2
    assert "no share such as 2%" in result.output


def test_a_label_to_hold_against_must_be_given(run: Run, judge: Judge, source: Path) -> None:
    condition = ("--against", "label", "--max-regression", "2%")
    assert run("submit", source, "--task", "softmax", *condition).exit_code == 2
