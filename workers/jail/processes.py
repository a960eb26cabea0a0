"""What the processes of one jail use, read from /proc."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """Of the living descendants of a process."""

    pids: frozenset[int]
    memory_bytes: int
    """Resident; pages that several processes share count for each."""
    cpu_s: float
    """With those that have ended and were waited for."""


class _Process(NamedTuple):
    parent: int
    ticks: int
    children_ticks: int
    pages: int


def _read_process(directory: Path) -> _Process | None:
    try:
        # The name in brackets may hold anything, also brackets and spaces.
        fields = (directory / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None  # it ended meanwhile
    own = int(fields[11]) + int(fields[12])  # utime, stime
    children = int(fields[13]) + int(fields[14])  # cutime, cstime
    return _Process(int(fields[1]), own, children, int(fields[21]))


def _descendants(processes: dict[int, _Process], ancestor: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found, waiting = set[int](), [ancestor]
    while waiting:
        born = children.get(waiting.pop(), [])
        found.update(born)
        waiting += born
    return found


def usage(proc: Path, ancestor: int) -> Usage:
    """What the descendants of `ancestor` use, by the ids that the mount `proc` shows."""
    names = (name for name in os.listdir(proc) if name.isdigit())
    read = {int(name): _read_process(proc / name) for name in names}
    processes = {pid: process for pid, process in read.items() if process is not None}
    pids = _descendants(processes, ancestor)
    waited_for = processes[ancestor].children_ticks if ancestor in processes else 0
    ticks = waited_for + sum(processes[pid].ticks + processes[pid].children_ticks for pid in pids)
    pages = sum(processes[pid].pages for pid in pids)
    return Usage(frozenset(pids), pages * _PAGE, ticks / _TICKS)


def proportional_bytes(proc: Path, pids: Iterable[int], enough: int) -> int:
    """Resident bytes of `pids`, each shared page divided among those that share it.

    Slow for large processes, so it stops counting beyond `enough`.
    """
    total = 0
    for pid in pids:
        try:
            text = (proc / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue  # it ended meanwhile
        kib = (line.split()[1] for line in text.splitlines() if line.startswith("Pss:"))
        total += sum(int(number) for number in kib) * 1024
        if total > enough:
            break
    return total
