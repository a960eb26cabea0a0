"""Code that looks, writes and reaches around: it finds nothing."""

import json
import os
import platform
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.jail.conftest import ENTRY, LIMITS, TESTS, Run, make_profile
from workers.jail import JailClient, ServerProcess, Status, start_server
from workers.jail.identity import FIRST_UID, SLOTS

X86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="x86-64 system calls")


def test_environment_has_only_what_the_profile_says(run: Run) -> None:
    own, all_in_sight = json.loads(run("environment").result)
    assert own.keys() - {"LC_CTYPE"} == {
        "PATH",
        "LANG",
        "HOME",
        "TMPDIR",
        "TRITON_CACHE_DIR",
        "CUDA_CACHE_PATH",
    }
    assert "canary-secret" not in json.dumps([own, all_in_sight])
    assert all_in_sight  # at least its own could be read


def test_root_holds_only_what_the_profile_says(run: Run, server: ServerProcess) -> None:
    listing = json.loads(run("root_listing").result)
    assert listing["/dev"] == ["null", "random", "urandom"]
    tops = {path.parts[1] for path in make_profile().readable}
    assert set(listing["/"]) <= tops | {"dev", "proc", "scratch"}
    assert not {"tmp", "home", "run", "var"} & set(listing["/"]) - tops


def test_files_of_the_host_cannot_be_read(run: Run, server: ServerProcess, tmp_path: Path) -> None:
    (temporary := tmp_path / "left_here").write_text("by somebody else")
    host = ["/etc/shadow", "/etc/passwd", "/etc/hosts", "/var", "/dev/shm", "/dev/kmsg"]
    host.append(str(temporary))
    project = [str(TESTS.parents[1] / "pyproject.toml"), str(TESTS.parent / "__init__.py")]
    runtime = [str(server.socket.parent), str(server.socket)]
    other = [
        "/proc/1/environ",
        "/proc/1/mem",
        "/proc/1/root/etc/passwd",
        "/proc/kcore",
        "/proc/net",
    ]
    paths = [*host, *project, *runtime, *other]
    outcomes = json.loads(run("read", json.dumps(paths).encode()).result)
    assert {path: outcome for path, outcome in outcomes.items() if outcome == "allowed"} == {}


def test_what_the_profile_names_can_be_read(run: Run) -> None:
    paths = [str(TESTS / "conftest.py"), str(TESTS)]
    outcomes = json.loads(run("read", json.dumps(paths).encode()).result)
    assert set(outcomes.values()) == {"allowed"}


def test_only_the_scratch_folder_can_be_written(run: Run, server: ServerProcess) -> None:
    target = TESTS / "neighbour.py"
    before = target.stat()
    paths = [str(target), os.__file__, "/dev/x", "/x", str(server.socket)]
    outcomes = json.loads(run("write", json.dumps(paths).encode()).result)
    allowed = {path: outcome for path, outcome in outcomes.items() if "allowed" in outcome}
    assert allowed == {}
    assert target.stat() == before


def test_nothing_that_blocks_can_be_planted(run: Run) -> None:
    outcomes = json.loads(run("special_files").result)
    assert "allowed" not in outcomes.values()


def test_programs_cannot_be_run(run: Run) -> None:
    paths = ["/bin/sh", "/usr/bin/env", "/bin/su", "/proc/self/exe"]
    outcomes = json.loads(run("execute", json.dumps(paths).encode()).result)
    assert len(outcomes) == 5
    assert set(outcomes.values()) <= {"EACCES", "ENOENT"}


def test_named_programs_can_be_run(tmp_path: Path) -> None:
    program = Path("/usr/bin/id").resolve()
    server = start_server(tmp_path, "t", make_profile(executable=(program,)), (), ENTRY)
    outcome = JailClient(server.socket).run(b"run_program " + bytes(program), LIMITS)
    refused = JailClient(server.socket).run(b'execute ["/bin/sh", "/usr/bin/env"]', LIMITS)
    server.stop()
    assert outcome.status is Status.OK
    assert b"uid=0" not in outcome.result
    assert set(json.loads(refused.result).values()) <= {"EACCES", "ENOENT"}


def test_no_other_process_exists(run: Run) -> None:
    own, by_proc, by_signal = json.loads(run("process_ids").result)
    assert by_proc in ([own], [1, own])  # hidepid hides the init where its uid differs
    assert by_signal == [1, own]


def test_signals_to_the_judge(run: Run, server: ServerProcess) -> None:
    outcome = run("signal_host", b"%d %d" % (os.getpid(), server.pid))
    assert set(json.loads(outcome.result).values()) <= {"ESRCH", "EPERM"}
    assert server.alive()


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[tuple[int, Path, list[socket.socket]]]:
    """Loopback TCP and UDP on one port, a Unix socket and an abstract one of the same name."""
    path = tmp_path / "service.sock"
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.socket())
        tcp.bind(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", port))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(str(path))
        path.chmod(0o777)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{path}")
        for listener in (tcp, unix, abstract):
            listener.listen()
        sockets = [tcp, udp, unix, abstract]
        for listener in sockets:
            listener.setblocking(False)
        yield port, path, sockets


def test_no_network(run: Run, listeners: tuple[int, Path, list[socket.socket]]) -> None:
    port, path, sockets = listeners
    outcomes = json.loads(run("network", f"{port} {path}".encode()).result)
    assert len(outcomes) == 10
    assert "allowed" not in outcomes.values()
    for listener in sockets:
        with pytest.raises(BlockingIOError):
            listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()


@X86_64
def test_system_calls_that_reach_out(run: Run) -> None:
    outcomes = json.loads(run("forbidden_calls").result)
    missing = {name for name, outcome in outcomes.items() if outcome == "ENOSYS"}
    assert missing == {"clone3", "io_uring_setup", "x32", "unknown"}
    assert {outcome for name, outcome in outcomes.items() if name not in missing} == {"EPERM"}


@X86_64
def test_system_calls_of_another_architecture(run: Run) -> None:
    outcome = run("system_call_32")
    assert (outcome.status, outcome.signal) == (Status.SIGNAL, signal.SIGSYS)


def test_no_privileges_are_left(run: Run) -> None:
    found = json.loads(run("privileges").result)
    uids = set(found["Uid"] + found["Gid"])
    assert len(uids) == 1
    assert FIRST_UID <= int(uids.pop()) < FIRST_UID + SLOTS
    assert found["Groups"] == []
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(found[name][0], 16) == 0
    assert found["NoNewPrivs"] == ["1"]
    assert found["Seccomp"] == ["2"]


def test_no_exceptions_without_cuda(run: Run) -> None:
    outcomes = json.loads(run("cuda_needs").result)
    assert "allowed" not in outcomes.values()


def test_exceptions_for_cuda_are_no_wider(tmp_path: Path) -> None:
    profile = make_profile(cuda_sockets=True, devices=(Path("/dev/full"),))
    server = start_server(tmp_path, "t", profile, (), ENTRY)
    outcomes = json.loads(JailClient(server.socket).run(b"cuda_needs", LIMITS).result)
    server.stop()
    assert outcomes == {
        "thread_name": "allowed",
        "sequenced": "allowed",
        "stream": "EAFNOSUPPORT",
        "inet": "EAFNOSUPPORT",
        "device": "allowed",
        "other_device": "ENOENT",
    }


def test_facts_about_the_machine_only_where_asked_for(run: Run, tmp_path: Path) -> None:
    paths = json.dumps(["/proc/meminfo", "/proc/version", "/proc/self/stat"]).encode()
    assert [*json.loads(run("read", paths).result).values()] == ["ENOENT", "ENOENT", "allowed"]
    profile = make_profile(readable=(*make_profile().readable, Path("/proc/meminfo")))
    server = start_server(tmp_path, "t", profile, (), ENTRY)
    outcomes = json.loads(JailClient(server.socket).run(b"read " + paths, LIMITS).result)
    server.stop()
    assert [*outcomes.values()] == ["allowed", "EACCES", "allowed"]
