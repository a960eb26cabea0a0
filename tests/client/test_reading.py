"""Commands that read: tasks, report, compare, board, plan."""

import json
import re
import time
from pathlib import Path

import pytest

from kerneljudge import Client
from kernels.catalog import Catalog
from tests.app.judging import beat
from tests.client.conftest import Run
from tests.client.judge import Judge
from tests.pages import compiling, rerunning
from tests.pages.site import Site


def submitted(run: Run, source: Path, *options: str) -> str:
    """Id of a new finished submission."""
    result = run("submit", source, "--task", "softmax", "--json", *options)
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
    assert json.loads(run("report", name[:8], "--json").output)["id"] == name
    assert run("report", "nothing").exit_code == 2


def test_a_report_shows_what_the_compiler_made(run: Run, judge: Judge, source: Path) -> None:
    text = run("report", submitted(run, source)).output
    row = next(line for line in text.splitlines() if line.startswith("whole_row "))
    assert {"12", "0.0", "KiB", "50", "%"} <= set(row.split())
    assert "what it means" not in text


def test_no_name_is_cut_where_no_terminal_is_narrow(
    run: Run, judge: Judge, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = submitted(run, source)
    monkeypatch.delenv("COLUMNS")
    wide = run("report", name).output
    assert re.search(r"^whole_row .*registers", wide, re.MULTILINE)
    monkeypatch.setenv("COLUMNS", "60")
    assert "…" not in wide + run("report", name).output


def test_each_reason_is_said_once_and_where_to_read_on(
    run: Run, judge: Judge, source: Path, site: Site
) -> None:
    judge.report = "matmul-build_error-missing_argument"
    result = run("submit", source, "--task", "matmul")
    assert result.output.count("TypeError") == 1
    assert f"{site.address}/docs/verdicts#build_error" in result.output


def test_ones_submissions_are_listed(run: Run, judge: Judge, source: Path) -> None:
    judge.report = "softmax-wrong_answer-no_maximum"
    name = submitted(run, source, "--label", "a branch")
    lines = run("list", "--limit", 1).output.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith(name)
    assert lines[1].split()[-3:] == ["wrong_answer", "a", "branch"]
    found = json.loads(run("list", "--label", "a branch", "--json").output)
    assert [item["id"] for item in found] == [name]
    assert "there are none" in run("list", "--verdict", "timeout").output
    assert "there are none" in run("list", "--user", "somebody").output
    assert name in run("list", "--all").output
    assert run("list", "--all", "--user", "somebody").exit_code == 2
    assert run("list", "--stage", "nowhere").exit_code == 2


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


def test_what_was_not_measured_is_compared_by_its_source(
    run: Run, judge: Judge, source: Path
) -> None:
    judge.report = "softmax-wrong_answer-no_maximum"
    first = submitted(run, source)
    source.write_text(source.read_text().replace("return x", "return x + 1"))
    second = submitted(run, source)
    result = run("compare", first[:8], second[:8])
    assert result.exit_code == 0
    assert "no case was timed in both" in result.output
    assert f"note: {first} was not measured (wrong_answer)." in result.output
    assert "+    return x + 1" in result.output.splitlines()


def test_the_board(run: Run, judge: Judge, source: Path) -> None:
    submitted(run, source)
    rows = run("board", "softmax").output.splitlines()[1:]
    (house,) = [row for row in rows if "house entry " in row]
    (own,) = [row for row in rows if "local" in row]
    assert "85.79" in own
    assert house.startswith("   -")
    assert rows.index(house) < rows.index(own), "the faster one stands above"
    assert json.loads(run("board", "softmax", "--json").output)["entries"][0]["rank"] == 1
    assert "nobody has been accepted" in run("board", "matmul", "--device", "H100").output
    assert run("board", "nothing").exit_code == 2


def test_a_board_of_several_devices_asks_which(run: Run, site: Site) -> None:
    for device in ("H100", "H200"):
        beat(site.queue, name=f"{device}@test", role="measure", device=device)
    with Client(site.address) as client:
        deadline = time.monotonic() + 20
        while len(client.devices()) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
    result = run("board", "softmax")
    assert result.exit_code == 2
    assert "name one of" in result.output
    assert "(--device)" in result.output


def test_what_a_submission_consists_of_is_saved(
    run: Run, judge: Judge, source: Path, site: Site, tmp_path: Path
) -> None:
    name = submitted(run, source)
    assert run("download", name[:8], "source", "-").stdout == source.read_text()
    file = tmp_path / "samples.csv"
    assert run("download", name, "samples", file).exit_code == 0
    assert file.read_text().splitlines()[0] == "case,sample,microseconds"
    built = rerunning.accepted(site, plan=compiling.packed())
    assert run("download", built, "ptx", "-").stdout == compiling.PTX
    assert run("download", built, "llir", tmp_path / "llir").exit_code == 2
    assert not (tmp_path / "llir").exists()


def test_a_plan_that_is_not_there(run: Run, judge: Judge, source: Path, tmp_path: Path) -> None:
    result = run("plan", "get", submitted(run, source), tmp_path / "plan")
    assert result.exit_code == 2
    assert not (tmp_path / "plan").exists()
