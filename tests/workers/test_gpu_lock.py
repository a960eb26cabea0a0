import os
from pathlib import Path

import pytest

from workers import gpu_lock
from workers.answers import JudgeFault


@pytest.fixture(autouse=True)
def _own_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpu_lock, "_MACHINE_WIDE", tmp_path)


def test_one_at_a_time_holds_a_gpu(tmp_path: Path) -> None:
    with gpu_lock.held("measure-0", tmp_path, 0):
        with (
            pytest.raises(JudgeFault, match="does not let go"),
            gpu_lock.held("measure-0", tmp_path, 0.05),
        ):
            pass
        with gpu_lock.held("measure-1", tmp_path, 0):
            pass
    with gpu_lock.held("measure-0", tmp_path, 0):
        pass


def test_who_is_killed_lets_go(tmp_path: Path) -> None:
    ready, told = os.pipe()
    holder = os.fork()
    if holder == 0:
        with gpu_lock.held("measure-0", tmp_path, 0):
            os.write(told, b".")
            while True:
                os.read(ready, 0)
    os.read(ready, 1)
    os.kill(holder, 9)
    os.waitpid(holder, 0)
    with gpu_lock.held("measure-0", tmp_path, 5):
        pass
