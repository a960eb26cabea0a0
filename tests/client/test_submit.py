"""`kerneljudge submit`: what it prints, writes and exits with."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kerneljudge import Client
from tests.client.conftest import Run
from tests.client.judge import Judge
from tests.pages.site import Site


def test_an_accepted_submission_ends_with_0_and_a_table(
    run: Run, judge: Judge, source: Path
) -> None:
    result = run("submit", source, "--task", "softmax")
    assert result.exit_code == 0, result.output
    assert "accepted  softmax  85.79 µs" in result.output
    row = next(line for line in result.output.splitlines() if line.startswith("long_rows"))
    assert {"171.9", "GB/s"} <= set(row.split())
    assert "building: compiling" in result.output


def test_a_wrong_one_ends_with_1_and_says_why(run: Run, judge: Judge, source: Path) -> None:
    judge.report = "softmax-wrong_answer-no_maximum"
    result = run("submit", source, "--task", "softmax")
    assert result.exit_code == 1
    assert "wrong_answer  softmax" in result.output


def test_json_alone_is_on_standard_output(run: Run, judge: Judge, source: Path) -> None:
    result = run("submit", source, "--task", "softmax", "--json")
    assert json.loads(result.stdout)["verdict"] == "accepted"
    assert "accepted" in result.stderr


def test_not_waiting_says_how_to_go_on(run: Run, source: Path) -> None:
    result = run("submit", source, "--task", "softmax", "--no-wait")
    assert result.exit_code == 0
    name = result.output.splitlines()[0].rpartition("/")[2]
    assert f"kerneljudge watch {name}" in result.output
    assert run("report", name).output == f"{name} is queued: kerneljudge watch {name}\n"
    assert run("cancel", name).output == f"{name}: cancelled\n"
    assert run("watch", name).exit_code == 1


def test_wrong_usage_ends_with_2(run: Run, source: Path, tmp_path: Path) -> None:
    result = run("submit", source, "--task", "sofmax")
    assert result.exit_code == 2
    assert "no task is called 'sofmax'. Choose one of:" in result.output
    assert run("submit", tmp_path / "nothing.py", "--task", "softmax").exit_code == 2
    assert run("submit", source).exit_code == 2
    checked = run("submit", source, "--task", "softmax", "--check-only", "--min-speedup", "1")
    assert checked.exit_code == 2
    other = tmp_path / "latin.py"
    other.write_bytes(b"# \xe9\n")
    assert "not UTF-8" in run("submit", other, "--task", "softmax").output


def test_a_service_that_is_not_there_ends_with_3(run: Run, source: Path) -> None:
    result = run("submit", source, "--task", "softmax", "--url", "http://127.0.0.1:9")
    assert result.exit_code == 3
    assert "does not answer" in result.output


def test_junit_has_a_test_for_each_case(
    run: Run, judge: Judge, source: Path, tmp_path: Path
) -> None:
    file = tmp_path / "report.xml"
    run("submit", source, "--task", "softmax", "--junit", file)
    suite = ElementTree.parse(file).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("16", "0")
    judge.report = "softmax-wrong_answer-no_maximum"
    run("submit", source, "--task", "softmax", "--junit", file)
    suite = ElementTree.parse(file).getroot()
    assert int(suite.get("failures", 0)) > 0
    judge.report = "matmul-build_error-missing_argument"
    run("submit", source, "--task", "matmul", "--junit", file)
    (test,) = ElementTree.parse(file).getroot().iter("testcase")
    failure = test.find("failure")
    assert failure is not None
    assert "line 37: TypeError" in failure.get("message", "")


def test_failing_lines_are_marked_for_github(
    run: Run, judge: Judge, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.report = "matmul-build_error-missing_argument"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    output = run("submit", source, "--task", "matmul").output
    mark = f"::error file={source},line=37,title=kerneljudge%3A build_error::TypeError: "
    assert mark in output
    assert "::error" not in run("submit", source, "--task", "matmul", "--no-annotate").output


@pytest.mark.parametrize(
    "options",
    [("--no-wait", "--min-speedup", "1"), ("--max-regression", "2%", "--against", "label")],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_submitted(
    run: Run, site: Site, source: Path, options: tuple[str, ...]
) -> None:
    with Client(site.address) as client:
        before = client.submissions()
        assert run("submit", source, "--task", "softmax", *options).exit_code == 2
        assert client.submissions() == before
