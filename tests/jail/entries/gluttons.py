"""Entry functions that take time, memory, files or processes without end."""

import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.jail.entries.attempt import attempt, attempts, system_call

MIB = 1 << 20


def spin(argument: bytes) -> bytes:
    """Never end, using the processor."""
    while True:
        pass


def sleep(argument: bytes) -> bytes:
    """Never end, using nothing."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1000)


def stop_self(argument: bytes) -> bytes:
    """Stop without ending."""
    os.kill(os.getpid(), signal.SIGSTOP)
    return b"continued"


def stop_all(argument: bytes) -> bytes:
    """Send SIGSTOP and SIGKILL to everything in sight, then wait."""
    results = [
        attempt(partial(os.kill, pid, number))
        for pid in (1, os.getppid() or 1)
        for number in (signal.SIGSTOP, signal.SIGKILL)
    ]
    return json.dumps(results).encode()


def block_in_c(argument: bytes) -> bytes:
    """Hold the interpreter lock in C for years."""
    return bytes(sum(range(10**18)))


def spin_in_children(argument: bytes) -> bytes:
    """Use much processor time in a short wall time."""
    for _ in range(3):
        if os.fork() == 0:
            spin(b"")
    return spin(b"")


def spin_in_ignored_children(argument: bytes) -> bytes:
    """Use processor time in many short lives that count for no parent."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if os.fork() == 0:
            until = time.process_time() + 0.05
            while time.process_time() < until:
                pass
            os._exit(0)
        with suppress(ChildProcessError):
            os.wait()


def fork_bomb(argument: bytes) -> bytes:
    """Fork without end, and refuse to die politely."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        attempt(os.fork)


def thread_bomb(argument: bytes) -> bytes:
    """Start threads without end; report how many there were."""
    started = 0
    try:
        while True:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
            started += 1
    except RuntimeError:
        return str(started).encode()


def zombies(argument: bytes) -> bytes:
    """Leave ended children unwaited until no more can be made."""
    made = 0
    while made < 10_000:
        try:
            if os.fork() == 0:
                os._exit(0)
        except OSError:
            break
        made += 1
    return str(made).encode()


def daemon(argument: bytes) -> bytes:
    """Leave a detached process that writes and stays."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(1, b"daemon\n")
            time.sleep(1000)
        os._exit(0)
    os.wait()
    time.sleep(0.1)
    return b"left a daemon"


def daemon_and_sleep(argument: bytes) -> bytes:
    """Leave a detached process and never end."""
    daemon(argument)
    return sleep(argument)


def descriptors(argument: bytes) -> bytes:
    """Open descriptors until refused; report how many."""
    opened = 0
    try:
        while True:
            os.dup(0)
            opened += 1
    except OSError as error:
        return f"{opened} {errno.errorcode[error.errno or 0]}".encode()


def allocate(argument: bytes) -> bytes:
    """Ask for more memory than there may be, at once."""
    return bytes(1 << 40)


def hoard(argument: bytes) -> bytes:
    """Take memory bit by bit in many processes."""
    for _ in range(6):
        if os.fork() == 0:
            break
    kept = []
    while True:
        try:
            kept.append(os.urandom(MIB))
        except MemoryError:
            time.sleep(1000)


def hoard_sockets(argument: bytes) -> bytes:
    """Fill the buffers of as many sockets as possible, in as many processes as possible."""
    children, reader, writer = 0, *os.pipe()
    with suppress(BlockingIOError):
        while os.fork():
            children += 1
        _fill_sockets()
        os.write(writer, b".")
        time.sleep(1000)
    while children:
        children -= len(os.read(reader, children))
    return b"all filled"


def _fill_sockets() -> None:
    kept: list[socket.socket] = []
    with suppress(OSError):
        while True:
            kept += socket.socketpair()
            kept[-1].setblocking(False)
            kept[-2].setblocking(False)
    for end in kept:
        with suppress(BlockingIOError):
            while True:
                end.send(bytes(65536))


def shared_memory(argument: bytes) -> bytes:
    """Take memory that no process's data limit counts."""
    sysv_shm = 29
    memfd = 319
    return attempts(
        {
            "mmap": lambda: mmap.mmap(-1, MIB),
            "shmget": lambda: system_call(sysv_shm, 0, MIB, 0o1600),
            "memfd": lambda: system_call(memfd, ctypes.addressof(ctypes.c_char(0)), 0),
            "dev_shm": lambda: Path("/dev/shm/x").write_bytes(b"x"),
            "dev_zero": lambda: open("/dev/zero", "r+b").close(),
        }
    )


def flood_stdout(argument: bytes) -> bytes:
    """Write ten gigabytes to a standard stream, without a line's end."""
    for _ in range(10 * 1024):
        os.write(int(argument), b"y" * MIB)
    return b"flooded"


def fill_scratch(argument: bytes) -> bytes:
    """Write files until refused; report the megabytes and why."""
    written = 0
    try:
        while True:
            with open(f"f{written}", "wb", buffering=0) as file:
                file.write(b"z" * MIB)
            written += 1
    except OSError as error:
        return f"{written} {errno.errorcode[error.errno or 0]}".encode()


def flood_inodes(argument: bytes) -> bytes:
    """Make empty files until refused; report how many and why."""
    made = 0
    try:
        while True:
            os.close(os.open(f"i{made}", os.O_CREAT | os.O_WRONLY))
            made += 1
    except OSError as error:
        return f"{made} {errno.errorcode[error.errno or 0]}".encode()


def large_file(argument: bytes) -> bytes:
    """Make one file larger than allowed, also a sparse one."""
    file = os.open("large", os.O_CREAT | os.O_RDWR)

    def write() -> None:
        while True:
            os.write(file, b"w" * MIB)

    return attempts({"write": write, "sparse": lambda: os.ftruncate(file, 1 << 40)})


def lower_limits_of_init(argument: bytes) -> bytes:
    """Make the first process die of a processor limit."""
    limit = partial(resource.prlimit, 1, resource.RLIMIT_CPU, (0, 0))
    return attempts({"init": limit, "own": partial(resource.prlimit, 0, resource.RLIMIT_CORE)})


def raise_limits(argument: bytes) -> bytes:
    """Raise each limit again."""
    kinds = {name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
    raised = []
    for name in ("RLIMIT_DATA", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CPU"):
        try:
            resource.setrlimit(kinds[name], (1 << 40, 1 << 40))
            raised.append(name)
        except (ValueError, OSError):
            continue
    return json.dumps(raised).encode()
