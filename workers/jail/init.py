"""The first process of a jail: makes the namespaces, starts the inmate, reaps orphans."""

import os
import signal
import socket
import struct
from typing import NoReturn

from workers.jail import inmate, linux, root
from workers.jail.cell import Cell, Entry, Pipes, reporting_failure
from workers.jail.level import Layer

STATUS = struct.Struct("=i")

_NAMESPACES = {
    Layer.MOUNTNS: linux.CLONE_NEWNS,
    Layer.NETNS: linux.CLONE_NEWNET,
    Layer.IPCNS: linux.CLONE_NEWIPC,
    Layer.UTSNS: linux.CLONE_NEWUTS,
    Layer.CGROUPNS: linux.CLONE_NEWCGROUP,
}


def forget_signal_handlers() -> None:
    """Drop what the server set up, so that signals do what they do by default."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _make_namespaces(cell: Cell) -> None:
    os.umask(0o022)
    flags = 0
    for layer, flag in _NAMESPACES.items():
        flags |= flag if cell.has(layer) else 0
    linux.unshare(flags)
    if cell.has(Layer.UTSNS):
        socket.sethostname("jail")
    if cell.has(Layer.MOUNTNS):
        root.enter(cell.mountpoint, cell.profile, cell.limits, cell.uid, proc=cell.has(Layer.PROC))


def _reap_until_end_of(child: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return status


def _become_silent(status: int) -> None:
    """Hold no pipe but the status pipe, or the others would never reach their end."""
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    linux.close_all_except({0, 1, 2, status})


def run(cell: Cell, entry: Entry, request: bytes, pipes: Pipes) -> NoReturn:
    """Make the jail, run the inmate in it, report how it ended and end with all in it."""
    try:
        with reporting_failure(pipes.ready.writer, "init"):
            linux.die_with_parent(signal.SIGKILL)
            _make_namespaces(cell)
            child = os.fork()
        if child == 0:
            inmate.run(cell, entry, request, pipes)
        _become_silent(pipes.status.writer)
        os.write(pipes.status.writer, STATUS.pack(_reap_until_end_of(child)))
    finally:
        os._exit(0)
