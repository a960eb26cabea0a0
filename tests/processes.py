"""The processes of an installation, as /proc shows them, by what they are for."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripts.stack import Stack

BUILD, INTERPRET = "workers.build.main:run", "workers.interpret.main:run"
MEASURE = "workers.measure.main:run"

Find = Callable[[list["Process"]], list["Process"]]
"""Some of the processes of an installation."""


@dataclass(frozen=True)
class Process:
    """One row of the process table."""

    pid: int
    parent: int
    words: tuple[str, ...]

    def runs(self, *words: str) -> bool:
        """Whether all the words stand in its command line."""
        return set(words) <= set(self.words)


def process_table() -> Iterator[Process]:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = tuple(file.read().decode(errors="replace").split("\0"))
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # It ended while we looked.
        yield Process(int(pid), parent, words)


def descendants(roots: list[int]) -> list[Process]:
    """The processes of one installation, parents before children."""
    table = list(process_table())
    found = [process for process in table if process.pid in roots]
    for process in found:
        found += [child for child in table if child.parent == process.pid]
    return found


def _works_in(pid: int, folder: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == folder
    except OSError:
        return False  # Another installation's, which ended while we looked.


def installation(stack: Stack) -> list[Process]:
    """Its processes; the Redis server outlives the service that started it."""
    roots = [part.process.pid for part in stack.parts if part.process is not None]
    redis = [p.pid for p in process_table() if "valkey-server" in p.words[0]]
    ours = [pid for pid in redis if _works_in(pid, f"{stack.data_dir}/redis")]
    return descendants([*roots, *ours])


def children(of: list[Process], among: list[Process]) -> list[Process]:
    pids = {process.pid for process in of}
    return [process for process in among if process.parent in pids]


def server(entry: str) -> Find:
    return lambda all_: [p for p in all_ if p.runs("workers.jail.server", entry)]


def warden(entry: str) -> Find:
    return lambda all_: children(server(entry)(all_), all_)


def inmate(entry: str) -> Find:
    return lambda all_: children(warden(entry)(all_), all_)


def queue_worker(all_: list[Process]) -> list[Process]:
    rq = [p for p in all_ if p.runs("workers.rq_worker")]
    return [p for p in rq if p.parent not in {other.pid for other in rq}]


def horse(all_: list[Process]) -> list[Process]:
    return children(queue_worker(all_), all_)
