"""One inspection, from what a tool said to what is kept; and what is missing on a host."""

import tempfile
from pathlib import Path

import pytest

from kernels.catalog import Catalog
from kernels.contract.rerun import RerunKind
from workers.inspection import availability, tools
from workers.inspection.looking import NotInspected, cases_of, inspection_of
from workers.inspection.running import Seen, ToolMissing, run_tool
from workers.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "inspection"


def seen(name: str, returncode: int | None = 0) -> Seen:
    log = DATA / f"{name}.csv"
    text = (DATA / f"{name}.txt").read_text()
    return Seen(text, log.read_text() if log.exists() else "", returncode)


def test_cases_that_were_not_reached_are_named() -> None:
    cases = ("one_column", "one_row")
    found = inspection_of(RerunKind.MEMCHECK, cases, seen("illegal_address.memcheck", None), 3.0)
    assert (found.cases, found.left_out) == (("one_column",), ("one_row",))
    assert any("stopped after" in note for note in found.notes)
    assert (found.total, found.seconds) == (5, 3.0)


def test_a_profile_keeps_its_launches() -> None:
    cases = ("short_rows", "single_precision", "hidden_4096")
    found = inspection_of(RerunKind.PROFILE, cases, seen("fused.profile"), 1.0)
    assert [profile.case for profile in found.profiles] == list(cases)
    assert found.left_out == ()


@pytest.mark.parametrize(
    ("said", "returncode", "reason"),
    [
        ("========= COMPUTE-SANITIZER\n========= Error: Device not supported.\n", 1, "not support"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n", 1, "gVisor"),
        ("==ERROR== ERR_NVGPUCTRPERM - no permission\n", 1, "NVreg_Restrict"),
        ("", 3, "exit code 3"),
        ("kerneljudge: case one_row\n", None, "did not get through one case"),
    ],
)
def test_a_tool_that_came_to_nothing_is_no_result(
    said: str, returncode: int | None, reason: str
) -> None:
    kind = RerunKind.PROFILE if "ERROR==" in said else RerunKind.MEMCHECK
    with pytest.raises(NotInspected, match=reason):
        inspection_of(kind, ("one_row",), Seen(said, "", returncode), 1.0)


def test_profiles_are_of_what_counts_and_checks_of_the_rest() -> None:
    task = Catalog()["softmax"].task
    names = {case.name: case.kind for case in task.cases}
    assert {names[name] for name in cases_of(task, RerunKind.PROFILE)} == {"benchmark"}
    assert {names[name] for name in cases_of(task, RerunKind.RACECHECK)} == {"test"}


def test_a_missing_tool_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda _: None)
    assert "install it with NVIDIA Nsight Compute" in tools.missing(RerunKind.PROFILE)
    with pytest.raises(ToolMissing, match="CUDA toolkit"):
        run_tool(RerunKind.MEMCHECK, b"", 1.0)


def test_counters_for_administrators_have_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "params").write_text("RmProfilingAdminOnly: 1\n")
    monkeypatch.setattr(tools, "find", lambda name: name)
    monkeypatch.setattr(tools, "_open_to_all", lambda _: True)
    monkeypatch.setattr(tools, "_DRIVER_PARAMETERS", tmp_path / "params")
    assert "NVreg_Restrict" in tools.missing(RerunKind.PROFILE)
    assert tools.missing(RerunKind.MEMCHECK) == ""


def test_a_folder_of_roots_is_not_open_to_all(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.touch(mode=0o755)
    tmp_path.chmod(0o700)
    assert not tools._open_to_all(program)


def test_nothing_is_looked_at_unless_it_is_wanted() -> None:
    settings = Settings.load()
    assert not settings.inspect
    assert availability.unavailable(settings, RerunKind.MEMCHECK) == availability.OFF


def test_a_program_is_run_with_its_lock_and_within_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In place of the tool a program that says what it was given."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own folder is root's alone
        folder = Path(name)
        folder.chmod(0o755)
        _run_in(folder, monkeypatch)


def _run_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = folder / "tool"
    tool.write_text('#!/bin/sh\necho "$@"\nls /proc/self/fd\nid -u\nexec sleep 60\n')
    tool.chmod(0o755)
    monkeypatch.setattr(tools, "find", lambda _: str(tool))
    with (folder / "lock").open("w") as lock:
        ran = run_tool(RerunKind.MEMCHECK, b"request", 1.5, lock=lock.fileno())
        assert ran.returncode is None
        assert "--tool memcheck" in ran.output
        assert "workers.measure.replay_once" in ran.output
        assert str(lock.fileno()) in ran.output.split()
