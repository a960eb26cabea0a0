"""Honest requests, and the life of a server."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.jail.conftest import ENTRY, LIMITS, MIB, Run, living, make_profile
from workers.jail import (
    JailClient,
    JailRefused,
    JailUnavailable,
    Layer,
    Limits,
    ServerProcess,
    Status,
    start_server,
    wire,
)


def test_returns_what_the_entry_returns(run: Run) -> None:
    outcome = run("echo", b"\x00 any \xff bytes")
    assert (outcome.status, outcome.result) == (Status.OK, b"\x00 any \xff bytes")
    assert outcome.error == outcome.output == ""
    assert outcome.cpu_s > 0
    assert 0 < outcome.wall_s < LIMITS.wall_s
    assert MIB < outcome.peak_memory_bytes < LIMITS.memory_bytes


def test_result_up_to_the_limit(run: Run) -> None:
    assert len(run("size", b"%d" % LIMITS.result_bytes).result) == LIMITS.result_bytes


def test_large_request(run: Run) -> None:
    assert run("echo", b"q" * (MIB - 5)).result == b"q" * (MIB - 5)


def test_output_of_process_and_children_is_kept(run: Run) -> None:
    outcome = run("talk")
    assert (outcome.status, outcome.result) == (Status.OK, b"")
    assert outcome.output == "to stdout\nto stderr\n\ufffd\x00 raw\n"


def test_exception_is_an_error_with_its_traceback(run: Run) -> None:
    outcome = run("fail")
    assert outcome.status is Status.ERROR
    assert "ValueError: the reason \\ud800" in outcome.error
    assert "entries/honest.py" in outcome.error
    assert "workers/jail" not in outcome.error


def test_result_must_be_bytes(run: Run) -> None:
    outcome = run("wrong_type")
    assert outcome.status is Status.ERROR
    assert "returned str, not bytes" in outcome.error


def test_imports_after_the_fork(run: Run) -> None:
    assert run("import_late").result == b"wave"
    assert run("import_neighbour").result == b"hello from next door"


def test_scratch_works_and_is_new_each_time(run: Run) -> None:
    for _ in range(2):
        assert json.loads(run("scratch_use").result) == [[], "kept", "/scratch"]


def test_runs_side_by_side(server: ServerProcess) -> None:
    client = JailClient(server.socket)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda n: client.run(b"echo %d" % n, LIMITS), range(24)))
    assert [outcome.result for outcome in outcomes] == [b"%d" % n for n in range(24)]


def test_no_trace_of_an_earlier_request_in_memory(run: Run) -> None:
    run("echo", b"the-secret-of-a-rival")
    assert run("find_in_memory", b"lavir-a-fo-terces-eht").result == b"False"


def test_client_that_leaves_ends_its_jail(server: ServerProcess) -> None:
    def leave_early() -> None:
        with pytest.raises(JailUnavailable, match="no answer"):
            JailClient(server.socket).run(b"sleep", LIMITS, timeout=0.3)

    thread = threading.Thread(target=leave_early)
    thread.start()
    while not living(server, patience=0):
        time.sleep(0.01)
    thread.join()
    assert not living(server)


def test_garbage_on_the_socket_harms_nobody(server: ServerProcess, run: Run) -> None:
    for garbage in (b"", b"\xff" * 100, b"\x00\x00\x00\x02[]", b'\x00\x00\x00\x0d{"parts": [0]}'):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(server.socket))
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                assert connection.recv(4096) == b""
    assert run("echo", b"fine").result == b"fine"


def test_no_server_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(JailUnavailable, match=r"none\.sock.*start it"):
        JailClient(tmp_path / "none.sock").run(b"", LIMITS)


def test_request_that_is_too_large(server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_REQUEST_BYTES", 10)
    with pytest.raises(ValueError, match="at most 10 bytes"):
        JailClient(server.socket).run(b"x" * 11, LIMITS)


def test_failed_setup_is_unavailable_and_says_why(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch()
    server = start_server(tmp_path / "run", "t", make_profile(executable=(program,)), (), ENTRY)
    try:
        program.unlink()
        with pytest.raises(JailUnavailable, match=r"could not be made: .*program"):
            JailClient(server.socket).run(b"echo", LIMITS)
    finally:
        server.stop()


def start(runtime: Path) -> ServerProcess:
    return start_server(runtime, "t", make_profile(), (), ENTRY)


def run_in_background(server: ServerProcess) -> threading.Thread:
    """A request that never ends by itself; returns when its jail runs."""

    def call() -> None:
        with pytest.raises(JailUnavailable):
            JailClient(server.socket).run(b"daemon_and_sleep", Limits(wall_s=60))

    thread = threading.Thread(target=call)
    thread.start()
    while len(living(server, patience=0)) < 4:  # warden, init, inmate, daemon
        time.sleep(0.01)
    return thread


def lives(pid: int) -> bool:
    """Whether the process runs; an ended one may wait long for a lazy init to collect it."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in b"ZX"
    except OSError:
        return False


def wait_for_end(pids: frozenset[int]) -> set[int]:
    """Those of `pids` that live after a second."""
    deadline = time.monotonic() + 1
    while (left := {pid for pid in pids if lives(pid)}) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left


def test_stop_ends_every_jail(tmp_path: Path) -> None:
    server = start(tmp_path)
    thread = run_in_background(server)
    pids = living(server, patience=0)
    server.stop()
    thread.join()
    assert not server.alive()
    assert not server.socket.exists()
    assert not wait_for_end(pids)
    server.stop()


def test_killed_server_leaves_nothing(tmp_path: Path) -> None:
    server = start(tmp_path)
    thread = run_in_background(server)
    pids = living(server, patience=0)
    os.kill(server.pid, signal.SIGKILL)
    thread.join()
    server.stop()
    assert not wait_for_end(pids)
    successor = start(tmp_path)  # over the stale socket
    assert successor.alive()
    successor.stop()


def test_a_lock_of_a_killed_client_is_held_until_its_jail_is_dead(
    server: ServerProcess, run: Run, tmp_path: Path
) -> None:
    with (tmp_path / "lock").open("w") as lock:
        client = os.fork()
        if client == 0:
            with (tmp_path / "lock").open("w") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                JailClient(server.socket, held=(held.fileno(),)).run(b"sleep", LIMITS)
        while len(living(server, patience=0)) < 3:  # warden, init, inmate
            time.sleep(0.01)
        os.kill(client, signal.SIGKILL)
        os.waitpid(client, 0)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert len(living(server, patience=0)) <= 1  # the warden, on its way out
    with (tmp_path / "lock").open("w") as held:
        client_of_lock = JailClient(server.socket, held=(held.fileno(),))
        seen = client_of_lock.run(b"inherit", LIMITS)
    assert len(json.loads(seen.result)) == len(json.loads(run("inherit").result))


def test_killed_warden_leaves_nothing(tmp_path: Path) -> None:
    server = start(tmp_path)
    thread = run_in_background(server)
    os.kill(min(living(server, patience=0)), signal.SIGKILL)
    thread.join()
    assert not living(server)
    assert JailClient(server.socket).run(b"echo 1", LIMITS).result == b"1"
    server.stop()


def test_server_dies_with_its_parent(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(make_profile().to_json())
    code = (
        "import os, pathlib, sys; from workers.jail import Profile, start_server;"
        "profile = Profile.from_json(pathlib.Path(sys.argv[1]).read_text());"
        f"print(start_server(pathlib.Path(sys.argv[2]), 't', profile, (), '{ENTRY}').pid);"
        "sys.stdout.flush(); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(profile), str(tmp_path / "run")],
        capture_output=True,
        check=True,
    )
    assert not wait_for_end(frozenset({int(done.stdout)}))


def test_level_is_complete_here(server: ServerProcess) -> None:
    assert server.level.layers | {Layer.CGROUP} == frozenset(Layer)
    assert not server.level.unsafe


def test_preload_that_fails_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JailRefused, match="did not get ready"):
        start_server(tmp_path, "t", make_profile(), ("no.such.module",), ENTRY)
