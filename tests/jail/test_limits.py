"""Code that takes too much: an outcome in time, nothing left, the next request works."""

import json
import signal
from dataclasses import replace

import pytest

from tests.jail.conftest import LIMITS, MIB, Run
from workers.jail import Status

SHORT = replace(LIMITS, wall_s=1, cpu_s=1000)


@pytest.mark.parametrize(
    "name", ["spin", "sleep", "stop_self", "block_in_c", "fork_bomb", "daemon_and_sleep"]
)
def test_endless_code_is_ended_in_time(run: Run, name: str) -> None:
    outcome = run(name, limits=SHORT)
    assert outcome.status is Status.TIMEOUT
    assert SHORT.wall_s <= outcome.wall_s < LIMITS.wall_s


@pytest.mark.parametrize("name", ["sleep", "stop_self"])
def test_what_stands_still_is_ended_before_its_time(run: Run, name: str) -> None:
    outcome = run(name, limits=replace(LIMITS, still_s=1))
    assert outcome.status is Status.STILL


def test_processor_time_of_one_process(run: Run) -> None:
    outcome = run("spin", limits=replace(LIMITS, cpu_s=1))
    assert outcome.status is Status.CPU
    assert 0.5 < outcome.cpu_s < 2


def test_processor_time_of_all_processes(run: Run) -> None:
    outcome = run("spin_in_children", limits=replace(LIMITS, cpu_s=2))
    assert outcome.status is Status.CPU
    assert 2 <= outcome.cpu_s < 4


def test_threads_are_counted(run: Run) -> None:
    outcome = run("thread_bomb")
    assert outcome.status is Status.OK
    # In a user namespace the warden and the init count too.
    assert LIMITS.processes - 3 <= int(outcome.result) < LIMITS.processes


def test_ended_children_are_counted(run: Run) -> None:
    outcome = run("zombies")
    assert outcome.status is Status.OK
    # In a user namespace the warden and the init count too.
    assert LIMITS.processes - 3 <= int(outcome.result) < LIMITS.processes


def test_daemon_dies_with_its_leader(run: Run) -> None:
    outcome = run("daemon")
    assert (outcome.status, outcome.result) == (Status.OK, b"left a daemon")
    assert outcome.output == "daemon\n"
    assert outcome.wall_s < 1


def test_signals_reach_nobody_else(run: Run) -> None:
    assert json.loads(run("stop_all").result) == ["EPERM"] * 4


def test_descriptors_are_bounded(run: Run) -> None:
    opened, reason = run("descriptors").result.split()
    assert reason == b"EMFILE"
    assert LIMITS.open_files - 10 < int(opened) < LIMITS.open_files


def test_one_large_allocation_is_a_memory_outcome(run: Run) -> None:
    outcome = run("allocate")
    assert outcome.status is Status.MEMORY
    assert outcome.error.startswith("MemoryError")


def test_memory_of_all_processes_is_added(run: Run) -> None:
    outcome = run("hoard")
    assert outcome.status is Status.MEMORY
    assert LIMITS.memory_bytes < outcome.peak_memory_bytes < 4 * LIMITS.memory_bytes
    assert outcome.wall_s < LIMITS.wall_s


def test_memory_that_no_process_is_charged_for(run: Run) -> None:
    outcomes = json.loads(run("shared_memory").result)
    assert outcomes == {
        "mmap": "EPERM",
        "shmget": "EPERM",
        "memfd": "EPERM",
        "dev_shm": "ENOENT",
        "dev_zero": "ENOENT",
    }


@pytest.mark.parametrize("stream", [b"1", b"2"])
def test_endless_output_is_ended_and_cut(run: Run, stream: bytes) -> None:
    outcome = run("flood_stdout", stream)
    assert outcome.status is Status.OUTPUT
    assert outcome.wall_s < LIMITS.wall_s
    assert outcome.output.startswith("yyy")
    assert outcome.output.endswith("yyy")
    assert "bytes left out" in outcome.output
    assert len(outcome.output) < 70_000


def test_result_over_the_limit(run: Run) -> None:
    outcome = run("size", b"%d" % (LIMITS.result_bytes + 1))
    assert (outcome.status, outcome.result) == (Status.RESULT, b"")


def test_scratch_has_a_size(run: Run) -> None:
    written, reason = run("fill_scratch").result.split()
    assert reason == b"ENOSPC"
    assert LIMITS.scratch_bytes // MIB - 2 <= int(written) <= LIMITS.scratch_bytes // MIB


def test_scratch_has_a_number_of_files(run: Run) -> None:
    made, reason = run("flood_inodes").result.split()
    assert reason == b"ENOSPC"
    assert int(made) == LIMITS.scratch_inodes


def test_files_have_a_size(run: Run) -> None:
    assert json.loads(run("large_file").result) == {"write": "EFBIG", "sparse": "EFBIG"}


def test_limits_of_others_cannot_be_lowered(run: Run) -> None:
    assert json.loads(run("lower_limits_of_init").result) == {"init": "EPERM", "own": "allowed"}


def test_limits_cannot_be_raised(run: Run) -> None:
    assert json.loads(run("raise_limits").result) == []


@pytest.mark.parametrize("code", [0, 1, 137])
def test_early_exit(run: Run, code: int) -> None:
    outcome = run("leave", b"%d" % code)
    assert (outcome.status, outcome.exit_code, outcome.result) == (Status.EXIT, code, b"")


def test_system_exit_is_an_error(run: Run) -> None:
    outcome = run("leave_politely")
    assert outcome.status is Status.ERROR
    assert "SystemExit: AC" in outcome.error


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU])
def test_death_by_an_own_signal(run: Run, number: signal.Signals) -> None:
    outcome = run("die", b"%d" % number)
    assert (outcome.status, outcome.signal) == (Status.SIGNAL, number)


def test_crash(run: Run) -> None:
    outcome = run("crash")
    assert (outcome.status, outcome.signal) == (Status.SIGNAL, signal.SIGSEGV)


def test_recursion(run: Run) -> None:
    outcome = run("recurse")
    assert outcome.status is Status.ERROR
    assert "RecursionError" in outcome.error
    assert len(outcome.error) < 70_000
