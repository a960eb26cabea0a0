"""Control groups: real ones, below the root of the hierarchy, where that can be written."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.jail.conftest import ENTRY, LIMITS, MIB, make_profile
from workers.jail import JailClient, Layer, Limits, ServerProcess, Status, cgroup, start_server
from workers.jail.cgroup import Group


def _root() -> Path | None:
    try:
        path = cgroup.mount()
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


def _offered() -> bool:
    root = _root()
    enabled = (root / "cgroup.subtree_control").read_text().split() if root else []
    return {"memory", "pids"} <= set(enabled)


pytestmark = pytest.mark.skipif(_root() is None, reason="no control groups to write here")
LIMITED = pytest.mark.skipif(not _offered(), reason="no memory controller of version 2 here")


@pytest.fixture
def base() -> Iterator[Path]:
    """A group that is marked as delegated, as a service's is, with this process in its `main`."""
    root = _root()
    assert root is not None
    base, home = root / f"kerneljudge-test-{os.getpid()}", cgroup.own()
    main = base / "main"
    main.mkdir(parents=True)
    os.setxattr(base, "user.delegate", b"1")
    Group(main).join()
    yield base
    Group(home).join()
    for path in (*base.glob("*/"), base):
        path.rmdir()


def _in_fork(group: Group, body: Callable[[], int]) -> int:
    """The exit code of `body` in the group; negative where a signal ended it."""
    child = os.fork()
    if child == 0:
        code = 255
        try:
            group.join()
            code = body()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_group_counts_what_nobody_waits_for(base: Path) -> None:
    group = Group(base / "jail")
    group.path.mkdir()

    def spin_in_an_orphan() -> int:
        if os.fork() == 0:
            until = time.process_time() + 0.2
            while time.process_time() < until:
                pass
            os._exit(0)
        return 0

    assert _in_fork(group, spin_in_an_orphan) == 0
    while "populated 1" in (group.path / "cgroup.events").read_text():
        time.sleep(0.01)
    assert group.cpu_s() >= 0.2
    group.remove()
    assert not group.path.exists()


def test_what_ended_servers_left_is_swept_away(base: Path) -> None:
    ended = os.fork()
    if ended == 0:
        os._exit(0)
    os.waitpid(ended, 0)
    left = base / cgroup.name_of(server=ended, uid=60_100)
    in_use = base / cgroup.name_of(server=os.getpid(), uid=60_100)
    left.mkdir()
    in_use.mkdir()
    cgroup.sweep(base)
    assert not left.exists()
    assert in_use.exists()


def test_only_a_marked_group_with_its_controllers_is_taken(base: Path) -> None:
    if _offered():
        assert cgroup.delegated() == base
    else:
        with pytest.raises(OSError, match="does not offer memory and pids"):
            cgroup.delegated()
    os.removexattr(base, "user.delegate")
    with pytest.raises(OSError, match="is not delegated"):
        cgroup.delegated()


@LIMITED
def test_the_kernel_ends_a_tree_that_takes_too_much(base: Path) -> None:
    limits = Limits(memory_bytes=20 * MIB, scratch_bytes=MIB, processes=7)
    group = Group.create(cgroup.delegated(), "jail", limits)

    def fork_until_refused() -> int:
        for made in range(100):
            try:
                if os.fork() == 0:
                    time.sleep(1000)
            except BlockingIOError:
                return made
        return 255

    assert _in_fork(group, fork_until_refused) == limits.processes  # with the first: one more
    (group.path / "cgroup.kill").write_text("1")
    assert not group.ran_out_of_memory()
    assert _in_fork(group, lambda: len(bytearray(os.urandom(60 * MIB))) and 0) == -9
    assert group.ran_out_of_memory()


@pytest.fixture
def grouped(base: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """A fork server in a delegated group."""
    process = start_server(tmp_path, "test", make_profile(), (), ENTRY)
    yield process
    process.stop()
    for path in base.glob("jail-*"):
        path.rmdir()


@LIMITED
def test_memory_that_no_process_is_charged_for_counts(base: Path, grouped: ServerProcess) -> None:
    assert Layer.CGROUP in grouped.level.layers
    client = JailClient(grouped.socket)
    assert client.run(b"hoard_sockets", replace(LIMITS, cpu_s=60)).status is Status.MEMORY
    outcome = client.run(b"echo next", LIMITS)
    assert (outcome.status, outcome.result) == (Status.OK, b"next")
    assert not list(base.glob("jail-*"))


@LIMITED
def test_processes_that_count_for_no_parent_use_processor_time(grouped: ServerProcess) -> None:
    outcome = JailClient(grouped.socket).run(b"spin_in_ignored_children", LIMITS)
    assert outcome.status is Status.CPU
