"""Who compiles what: files in the scratch by which the processes of a build share the work."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workers.build.budget import processor_time
from workers.build.kernels import write_whole

Verdict = Literal["timeout", "build_error"]


@dataclass(frozen=True)
class Claim:
    """A kernel that a process is compiling."""

    key: str
    owner: int
    """Process id."""
    function: str
    age: float
    """Seconds."""
    used: float
    """Seconds of the process itself since it began, without the assembler's."""


class Claims:
    """Claims and bars by the key under which Triton caches a kernel."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, key: str, function: str) -> bool:
        """Claim a kernel; False if another process has it, OSError if nothing can be written."""
        try:
            file = os.open(self._claim(key), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return False
        try:
            with os.fdopen(file, "w") as claim:
                claim.write(f"{os.getpid()} {processor_time(os.getpid())} {function}")
        except OSError:  # nobody's claim would be waited for until time is up
            self.release(key)
            raise
        return True

    def release(self, key: str) -> None:
        """Nobody compiles the kernel any more."""
        self._claim(key).unlink(missing_ok=True)

    def bar(self, key: str, verdict: Verdict, reason: str) -> None:
        """Nobody shall compile the kernel again."""
        write_whole(self._folder / f"{key}.barred", f"{verdict} {reason}".encode())

    def barred(self, key: str) -> tuple[Verdict, str] | None:
        """Why nobody shall compile the kernel, and what that means where it is needed."""
        try:
            verdict, reason = (self._folder / f"{key}.barred").read_text().split(" ", 1)
        except FileNotFoundError:
            return None
        return ("timeout" if verdict == "timeout" else "build_error"), reason

    def all(self) -> list[Claim]:
        """Every claim that is held now."""
        return [claim for path in self._folder.glob("*.claim") if (claim := _read(path))]

    def held_by(self, owner: int) -> list[Claim]:
        """Claims of one process."""
        return [claim for claim in self.all() if claim.owner == owner]

    def _claim(self, key: str) -> Path:
        return self._folder / f"{key}.claim"


def _read(path: Path) -> Claim | None:
    try:
        owner, began, function = path.read_text().split(" ", 2)
        used = processor_time(int(owner)) - float(began)
        age = time.time() - path.stat().st_mtime
    except (FileNotFoundError, ValueError):  # released, or not yet written
        return None
    return Claim(key=path.stem, owner=int(owner), function=function, age=age, used=used)
