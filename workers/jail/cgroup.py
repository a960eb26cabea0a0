"""A control group for each jail, below one that the system has left to the judge.

The limits of a process do not add up over a tree, and looking at a tree takes time. A control
group limits all of it at once, with what no process is charged for: files in memory, pipes.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from workers.jail.profile import Limits

_NEEDED = ("memory", "pids")
_WELCOME = ("cpu",)
"""With it every jail gets the same share of the processors, however many processes it has."""
_MARKS = ("user.delegate", "trusted.delegate")
_INIT = 1


def delegated() -> Path:
    """The group below which this process may make others; OSError says why there is none.

    It is the parent of this process's own, since a group with limits below it holds no process.
    """
    if (group := own()) == mount():
        raise OSError("this process is in no control group but the root")
    base = group.parent
    if not any(_attribute(base, mark) == b"1" for mark in _MARKS):
        raise OSError(f"the control group {base} is not delegated to the judge")
    offered = (base / "cgroup.controllers").read_text().split()
    if absent := [name for name in _NEEDED if name not in offered]:
        raise OSError(f"the control group {base} does not offer {' and '.join(absent)}")
    wanted = " ".join(f"+{name}" for name in (*_NEEDED, *_WELCOME) if name in offered)
    (base / "cgroup.subtree_control").write_text(wanted)
    return base


def own() -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return mount() / line.removeprefix("0::/")
    raise OSError("this kernel has no control groups of version 2")


def mount() -> Path:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, _, source = line.partition(" - ")
        fields = place.split()
        if source.startswith("cgroup2 ") and fields[3] == "/":
            return Path(fields[4])
    raise OSError("control groups of version 2 are not mounted")


def _attribute(path: Path, name: str) -> bytes:
    try:
        return os.getxattr(path, name)
    except OSError:
        return b""


@dataclass(frozen=True)
class Group:
    """The control group of one jail."""

    path: Path

    @classmethod
    def create(cls, base: Path, name: str, limits: Limits) -> Self:
        """An empty group with limits, in place of one that was left under its name."""
        group = cls(base / name)
        group.remove()
        group.path.mkdir()
        for file, value in _settings(limits).items():
            if (group.path / file).exists():
                (group.path / file).write_text(value)
        return group

    def join(self) -> None:
        """Move the calling process into it, and with it all that it forks from now on."""
        (self.path / "cgroup.procs").write_text("0")

    def cpu_s(self) -> float:
        """Processor seconds of all that ever was in it."""
        return self._number("cpu.stat", "usage_usec") / 1e6

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended it for its memory."""
        return self._number("memory.events", "oom_kill") > 0

    def remove(self) -> None:
        """Remove it, if it is there; OSError if a process is left in it."""
        with suppress(FileNotFoundError):
            self.path.rmdir()

    def _number(self, file: str, key: str) -> int:
        pairs = (line.split() for line in (self.path / file).read_text().splitlines())
        return next((int(value) for name, value in pairs if name == key), 0)


def _settings(limits: Limits) -> dict[str, str]:
    return {
        # Files in the scratch folder count as memory here.
        "memory.max": str(limits.memory_bytes + limits.scratch_bytes),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": str(limits.processes + _INIT),
    }


def name_of(server: int, uid: int) -> str:
    """The name of a jail's group, which no other jail on the machine has at the same time."""
    return f"jail-{server}-{uid}"


def sweep(base: Path) -> None:
    """Remove what servers left behind that have ended."""
    for path in base.glob("jail-*-*"):
        if not Path(f"/proc/{path.name.split('-')[1]}").exists():
            with suppress(OSError):  # its processes are about to end
                path.rmdir()
