"""The faults: each breaks something for a while and returns when it is whole again, or may heal."""

import shutil
import signal
import sqlite3
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis
from rq import Queue
from rq.serializers import JSONSerializer

from kernels.contract import STREAM, job_id
from tests.chaos.clients import ask
from tests.chaos.site import REPEATED, Site
from tests.processes import (
    BUILD,
    INTERPRET,
    MEASURE,
    Find,
    Process,
    horse,
    inmate,
    queue_worker,
    server,
    warden,
)

_STAND_IN = "tests.chaos.stand_in:run"
_BOUNDARIES = (
    ("stage", "compiling"),
    ("stage", "cache"),
    ("stage", "checking"),
    ("stage", "replaying"),
    ("built", ""),
    ("report", ""),
)
"""Words of workers after which a process is killed at once."""


@dataclass(frozen=True)
class Scale:
    """How long what lasts lasts, in seconds."""

    paused: float = 30.0
    locked: float = 12.0
    full: float = 6.0
    stopped: float = 25.0


Fault = Callable[[Site, Scale], str]
"""Returns what was done, in a few words."""


def _kill(find: Find) -> Fault:
    """At a random moment, or right after a worker said something."""

    def fault(site: Site, scale: Scale) -> str:
        boundary = site.chance.choice((None, *_BOUNDARIES))
        if boundary is None:
            time.sleep(site.chance.uniform(0, 1))
        elif site.next_event(*boundary) is None:
            boundary = None
        killed = site.kill(find)
        when = "some time" if boundary is None else f"after {' '.join(boundary).strip()}"
        return f"{len(killed)} killed {when}"

    return fault


def _named(*words: str) -> Find:
    return lambda processes: [p for p in processes if p.runs(*words)]


def _valkey(processes: list[Process]) -> list[Process]:
    return [process for process in processes if "valkey-server" in process.words[0]]


def _redis_paused(site: Site, scale: Scale) -> str:
    stopped = site.kill(_valkey, signal.SIGSTOP)
    time.sleep(scale.paused)
    for process in stopped:
        site.signal(process, signal.SIGCONT)
    return f"stopped for {scale.paused:.0f} s"


def _redis_without_data(site: Site, scale: Scale) -> str:
    site.kill(_valkey)
    for path in (site.stack.data_dir / "redis").iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return "killed, and its files removed"


def _redis_full(site: Site, scale: Scale) -> str:
    site.redis.config_set("maxmemory", 1 << 20)
    time.sleep(scale.full)
    with suppress(redis.RedisError):  # started again, it has no limit
        site.redis.config_set("maxmemory", 0)
    return f"for {scale.full:.0f} s"


def _database_locked(site: Site, scale: Scale) -> str:
    database = sqlite3.connect(site.stack.data_dir / "kerneljudge.db", timeout=30)
    database.isolation_level = None
    with suppress(sqlite3.OperationalError):
        database.execute("BEGIN EXCLUSIVE")
    time.sleep(scale.locked)
    database.close()
    return f"for {scale.locked:.0f} s"


def _disk_full(site: Site, scale: Scale) -> str:
    if site.disk is None:
        return "left out: no disk of its own"
    ballast = site.disk / "ballast"
    deadline = time.monotonic() + scale.full
    with ballast.open("wb", buffering=0) as file:
        while time.monotonic() < deadline:  # what others free is taken as well
            try:
                file.write(bytes(1 << 16))
            except OSError:
                time.sleep(0.05)
    ballast.unlink()
    return f"for {scale.full:.0f} s"


def _no_descriptors(site: Site, scale: Scale) -> str:
    """Queue workers and their work horses may open nothing more."""
    deadline = time.monotonic() + scale.full
    site.limit_descriptors(0)
    while time.monotonic() < deadline:
        time.sleep(0.05)
        site.limit_descriptors(0)  # also of those that were started since
    return f"of {site.limit_descriptors(None)} processes for {scale.full:.0f} s"


def _late_orphan(site: Site, scale: Scale) -> str:
    """A work horse that answers after its attempt was given up."""
    stopped = site.kill(horse, signal.SIGSTOP)
    time.sleep(scale.stopped)
    for process in stopped:
        site.signal(process, signal.SIGCONT)
    return f"{len(stopped)} stopped for {scale.stopped:.0f} s"


def _job_twice(site: Site, scale: Scale) -> str:
    """The job of a submission in flight, and of one that is finished, queued again."""
    finished = [entry for entry in site.ledger.entries if entry.finished_at is not None]
    chosen = [*site.ledger.in_flight()[:2], *site.chance.sample(finished, min(2, len(finished)))]
    for entry in chosen:
        detail = ask(f"{site.stack.address}/api/v1/submissions/{entry.name}")
        if detail is not None:
            with suppress(redis.RedisError):
                queue = Queue("build", connection=site.redis, serializer=JSONSerializer)
                queue.push_job_id(job_id("build", entry.name, detail["attempt"]))
    return f"{len(chosen)} jobs"


def _cancelled(kind: str, word: str = "") -> Fault:
    """Right after a worker said something of it; where none says anything, while it waits."""

    def fault(site: Site, scale: Scale) -> str:
        if kind:
            event = site.next_event(kind, word)
            entry = site.ledger.named(event["submission"]) if event else None
        else:
            entry = next(iter(site.ledger.in_flight()[::-1]), None)
        if entry is None:
            return "nothing to cancel"
        entry.cancel_asked = True
        address = f"{site.stack.address}/api/v1/submissions/{entry.name}/cancel"
        answers = [ask(address, {}) for _ in range(2)]
        verdicts = [answer["verdict"] if answer else "no answer" for answer in answers]
        return f"answered {verdicts[-1]}"

    return fault


def _clock(hours: int) -> Fault:
    """For service, workers and Redis, right after work horses died: their holds expire by it.

    Fork servers and jails keep the right time.
    """

    def fault(site: Site, scale: Scale) -> str:
        if site.clock is None:
            return "left out: no C compiler"
        killed = site.kill(horse)
        with site.clock.open("r+b") as shared:  # in place: the processes have it mapped
            shared.write(struct.pack("=q", hours * 3600))
        time.sleep(scale.full)
        return f"{hours:+d} h, {len(killed)} work horses killed"

    return fault


FAULTS: dict[str, Fault] = {
    "kill service": _kill(_named("-m", "app")),
    "kill redis": _kill(_valkey),
    "kill supervisor": _kill(_named("-m", "tests.chaos.host")),
    "kill queue workers": _kill(queue_worker),
    "kill work horses": _kill(horse),
    "kill build server": _kill(server(BUILD)),
    "kill build wardens": _kill(warden(BUILD)),
    "kill build jails": _kill(inmate(BUILD)),
    "kill interpreter server": _kill(server(INTERPRET)),
    "kill interpreter wardens": _kill(warden(INTERPRET)),
    "kill comparing server": _kill(server(MEASURE)),
    "kill measure server": _kill(server(_STAND_IN)),
    "kill measure wardens": _kill(warden(_STAND_IN)),
    "redis without its data": _redis_without_data,
    "redis paused": _redis_paused,
    "redis full": _redis_full,
    "database locked": _database_locked,
    "disk full": _disk_full,
    "no descriptors": _no_descriptors,
    "late orphan": _late_orphan,
    "job delivered twice": _job_twice,
    "clock an hour on": _clock(1),
    "clock an hour back": _clock(-1),
    "cancel while queued": _cancelled(""),
    "cancel while building": _cancelled("stage", "compiling"),
    "cancel while checking": _cancelled("stage", "checking"),
    "cancel when built": _cancelled("built"),
    "cancel while measuring": _cancelled("stage", "replaying"),
    "cancel when finished": _cancelled("report"),
}


class Rain(threading.Thread):
    """Says again, seconds later, what workers said: all the time some events come twice."""

    _SHARE = 0.3
    _LATEST_S = 20.0

    def __init__(self, site: Site) -> None:
        super().__init__(daemon=True)
        self._site = site
        self._done = threading.Event()
        self._due: list[tuple[float, bytes]] = []
        self.repeated = 0

    def stop(self) -> None:
        """End; what is not said yet is not said."""
        self._done.set()
        self.join()

    def run(self) -> None:
        """Read along and repeat."""
        last: bytes | str = "$"
        while not self._done.is_set():
            try:
                last = self._listen(last)
                self._repeat()
            except redis.RedisError:
                self._done.wait(0.1)

    def _listen(self, last: bytes | str) -> bytes | str:
        chance = self._site.chance
        answer: Any = self._site.redis.xread({STREAM: last}, block=200)
        for _, entries in answer or ():
            for stream_id, fields in entries:
                last = stream_id
                if REPEATED not in fields and chance.random() < self._SHARE:
                    due = time.monotonic() + chance.uniform(0, self._LATEST_S)
                    self._due.append((due, fields[b"event"]))
        return last

    def _repeat(self) -> None:
        now = time.monotonic()
        for entry in [entry for entry in self._due if entry[0] <= now]:
            self._due.remove(entry)
            self._site.redis.xadd(STREAM, {"event": entry[1], REPEATED: b""})
            self.repeated += 1
