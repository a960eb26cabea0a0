"""The trusted process beside each jail: starts it, ends it and decides the outcome."""

import logging
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from workers.jail import cgroup, frame, identity, init, linux, processes, root, wire
from workers.jail.capture import HeadAndTail
from workers.jail.cell import READY, Cell, Entry, Pipes, open_pipe
from workers.jail.cgroup import Group
from workers.jail.level import JailLevel, Layer
from workers.jail.outcome import JailUnavailable, Outcome, Status
from workers.jail.profile import Limits, Profile
from workers.jail.slots import take_slot
from workers.jail.watch import Watch

_log = logging.getLogger(__name__)
_TRANSFER_S = 30.0
_DEATH_S = 10.0
# A process ended by its own processor limit has used all of it, by a coarser clock than ours.
_CPU_SHARE = 0.5


@dataclass(frozen=True)
class Service:
    """What is the same for every jail of one server."""

    profile: Profile
    level: JailLevel
    entry: Entry
    slots: Path
    """Folder of the slot locks."""
    mountpoint: Path
    """An empty folder of the judge."""
    groups: Path | None = None
    """The control group below which each jail gets one."""


class _ClientGone(Exception):
    """Nobody waits for this outcome any more."""


@contextmanager
def _open_cell(service: Service, limits: Limits) -> Iterator[Cell]:
    """A cell with a slot of its own, and on a machine without mounts a plain scratch folder."""
    cell = Cell(
        service.profile,
        limits,
        service.level,
        take_slot(service.slots),
        service.mountpoint,
        root.SCRATCH,
    )
    if cell.has(Layer.MOUNTNS):
        yield cell
        return
    # Not in the judge's own folder, which the uid of the jail may not pass through.
    scratch = Path(tempfile.mkdtemp(prefix="jail-", dir="/tmp"))
    if not identity.needs_user_namespace() and cell.has(Layer.UID):
        os.chown(scratch, cell.uid, cell.uid)
    try:
        yield replace(cell, scratch=scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _open_group(service: Service, cell: Cell) -> Iterator[Group | None]:
    if service.groups is None:
        yield None
        return
    name = cgroup.name_of(server=os.getppid(), uid=cell.uid)
    group = Group.create(service.groups, name, cell.limits)
    try:
        yield group
    finally:
        with suppress(OSError):  # whoever gets this slot next tries again
            group.remove()


def _start(cell: Cell, entry: Entry, request: bytes, pipes: Pipes, group: Group | None) -> int:
    """Fork the first process of the jail and return its id."""
    linux.adopt_orphans()
    if cell.has(Layer.UID) and identity.needs_user_namespace():
        identity.enter_user_namespace(cell.uid)
        linux.set_dumpable()
    if cell.has(Layer.PIDNS):
        linux.unshare(linux.CLONE_NEWPID)
    first = os.fork()
    if first == 0:
        if group is not None:
            group.join()
        init.run(cell, entry, request, pipes)
    for pipe in pipes:
        os.close(pipe.writer)
    return first


def _end_strays() -> None:
    """Kill and collect what a jail without its own process ids left to this process."""
    proc, deadline = Path("/proc"), time.monotonic() + _DEATH_S
    while strays := processes.usage(proc, os.getpid()).pids:
        if time.monotonic() > deadline:
            raise JailUnavailable(f"processes {sorted(strays)} do not die: check the machine")
        for pid in strays:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(-1, 0)


def _decide(watch: Watch, limits: Limits, cpu_s: float, group: Group | None) -> Outcome:
    """The outcome, from the warden's own facts first and the jail's words last."""
    if watch.reason is not None:
        return Outcome(watch.reason)
    if group is not None and group.ran_out_of_memory():
        return Outcome(Status.MEMORY)
    if len(watch.status) != init.STATUS.size:
        raise JailUnavailable("the jail was killed: is the machine short of memory?")
    (status,) = init.STATUS.unpack(watch.status)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number in (signal.SIGXCPU, signal.SIGKILL) and cpu_s >= _CPU_SHARE * limits.cpu_s:
            return Outcome(Status.CPU)
        return Outcome(Status.SIGNAL, signal=number)
    code = os.WEXITSTATUS(status)
    if code != 0 or not watch.result:
        return Outcome(Status.EXIT, exit_code=code)
    match frame.parse(bytes(watch.result)):
        case (frame.Kind.RESULT, payload):
            return Outcome(Status.OK, result=payload)
        case (frame.Kind.ERROR, payload):
            return Outcome(Status.ERROR, error=_bounded_text(payload))
        case (frame.Kind.MEMORY_ERROR, payload):
            return Outcome(Status.MEMORY, error=_bounded_text(payload))
    return Outcome(Status.RESULT)


def _bounded_text(payload: bytes) -> str:
    kept = HeadAndTail()
    kept.feed(payload)
    return kept.text()


def _guard(cell: Cell, entry: Entry, request: bytes, client: int, group: Group | None) -> Outcome:
    """Run one jail from its start to the death of its last process."""
    pipes = Pipes(*(open_pipe() for _ in Pipes._fields))
    first = _start(cell, entry, request, pipes, group)
    watch = Watch(cell.limits, first, pipes, client, group)
    if cell.has_own_processes:
        watch.until_end(Path(f"/proc/{first}/root/proc"), ancestor=1)
    else:
        watch.until_end(Path("/proc"), ancestor=first)
    wall_s = time.monotonic() - watch.started
    _, _, usage = os.wait4(first, 0)
    if not cell.has(Layer.PIDNS):  # otherwise the kernel has ended all with the first process
        _end_strays()
    watch.drain()
    if watch.client_gone:
        raise _ClientGone
    if watch.ready != READY:
        reason = watch.ready.decode(errors="replace") or "it ended during its set-up"
        raise JailUnavailable(f"the jail could not be made: {reason}")
    # The kernel does not count what it killed with the first process.
    cpu_s = max(usage.ru_utime + usage.ru_stime, watch.cpu_s, group.cpu_s() if group else 0)
    return replace(
        _decide(watch, cell.limits, cpu_s, group),
        output=watch.output.text(),
        wall_s=wall_s,
        cpu_s=cpu_s,
        peak_memory_bytes=max(watch.peak_bytes, usage.ru_maxrss * 1024),
    )


def _reply(connection: socket.socket, outcome: Outcome) -> None:
    header = asdict(outcome)
    parts = [header.pop("result"), header.pop("error").encode(), header.pop("output").encode()]
    wire.send(connection, header, *parts, timeout=_TRANSFER_S)


def serve(connection: socket.socket, service: Service) -> None:
    """Answer the one request of a connection with an outcome, or say why there is none."""
    try:
        wire.borrow(connection, _TRANSFER_S)  # never closed: they end with this process
        header, (request,) = wire.receive(connection, wire.MOST_REQUEST_BYTES, _TRANSFER_S)
        try:
            limits = Limits(**header["limits"])
            with _open_cell(service, limits) as cell, _open_group(service, cell) as group:
                outcome = _guard(cell, service.entry, request, connection.fileno(), group)
        except (JailUnavailable, OSError) as error:
            wire.send(connection, {"unavailable": str(error)}, timeout=_TRANSFER_S)
        else:
            _reply(connection, outcome)
    except _ClientGone:
        _log.info("%s: the client left, its jail was ended", service.profile.name)
    except wire.BrokenMessage as error:
        _log.warning("%s: no request, or no one for the answer: %s", service.profile.name, error)
