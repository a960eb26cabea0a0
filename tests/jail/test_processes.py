"""What a tree of processes uses."""

import os
import subprocess
import sys
from pathlib import Path

from workers.jail.processes import proportional_bytes, usage

MIB = 1 << 20
PROC = Path("/proc")
TREE = """
import os, sys, time
if os.fork() == 0:
    kept = os.urandom(50 << 20)
    print(os.getpid(), flush=True)
    time.sleep(1000)
time.sleep(1000)
"""


def test_descendants_and_their_memory() -> None:
    with subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        mine = usage(PROC, os.getpid())
        below = usage(PROC, parent.pid)
        exact = proportional_bytes(PROC, [child], enough=1 << 60)
        cut = proportional_bytes(PROC, [child, child], enough=MIB)
        os.kill(child, 9)
        parent.kill()
    assert {parent.pid, child} <= mine.pids
    assert below.pids == {child}
    assert 50 * MIB < below.memory_bytes < 100 * MIB
    assert 50 * MIB < exact < below.memory_bytes
    assert cut < 1.5 * exact  # of the two only one was counted
    assert 0 < below.cpu_s <= mine.cpu_s


def test_nobody() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert usage(PROC, ended.pid) == (frozenset(), 0, 0)
    assert proportional_bytes(PROC, [ended.pid], enough=0) == 0
