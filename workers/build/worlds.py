"""Outcomes that only the GPU can tell, each followed to the end of host code by a process."""

import os
import signal
import threading
from pathlib import Path

from kernels.contract import CasePlan, limits
from workers.build.compilation import Compiler
from workers.build.schedule import flush, forget, silence, wait_for

_LOOK_SECONDS = 0.05


class Worlds:
    """The processes of one case: each is a fork of host code at the point of an outcome."""

    def __init__(self, folder: Path, compiler: Compiler) -> None:
        self._folder = folder
        self._compiler = compiler
        self._exploring = False
        self._branched = False
        self.count = 0

    def explore(self, case: int) -> None:
        """Outcomes may be followed from now on."""
        self._exploring = True
        self._folder = self._folder / str(case)

    @property
    def possible(self) -> bool:
        """Whether one more outcome can be followed, here and now."""
        return (
            self._exploring
            and not self._branched
            and self.count < limits.ALTERNATIVES
            and not self._compiler.late
            and threading.current_thread() is threading.main_thread()
        )

    @property
    def answer(self) -> Path | None:
        """Where a child puts its plan; None in the process that was asked for the case."""
        return self._path(self.count - 1) if self._branched else None

    def branch(self) -> bool:
        """Fork: True in the child, which follows the outcome; False once it has ended."""
        self.count += 1
        self._folder.mkdir(parents=True, exist_ok=True)
        flush()
        child = os.fork()
        if child == 0:
            silence()
            self._branched = True
            return True
        self._await(child)
        return False

    def plans(self) -> list[CasePlan | None]:
        """What the children found; None for one that failed, or ran out of time."""
        return [self._read(number) for number in range(self.count)]

    def _await(self, child: int) -> None:
        end = os.pidfd_open(child)
        while not os.waitpid(child, os.WNOHANG)[0]:
            if self._compiler.late:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            wait_for([end], _LOOK_SECONDS)
        forget(end)

    def _read(self, number: int) -> CasePlan | None:
        try:
            return CasePlan.model_validate_json(self._path(number).read_bytes())
        except (OSError, ValueError):
            return None

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"
