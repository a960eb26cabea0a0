"""Entry functions that look, write and reach where they must not."""

import ctypes
import gc
import json
import mmap
import os
import socket
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.jail.entries.attempt import attempt, attempts, system_call

MIB = 1 << 20


def environment(argument: bytes) -> bytes:
    """Every environment variable, of this process and of those in sight."""
    seen = dict(os.environ)
    texts = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            texts.append(path.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return json.dumps([seen, texts]).encode()


def find_in_memory(argument: bytes) -> bytes:
    """Whether some string object of this process holds the argument, read backwards."""
    wanted = argument.decode()[::-1]
    return str(
        any(
            wanted in value
            for thing in gc.get_objects()
            if isinstance(thing, dict)
            for value in list(thing.values())
            if isinstance(value, str)
        )
    ).encode()


def read(argument: bytes) -> bytes:
    """Try to read each of the paths given as a JSON list."""

    def open_path(path: str) -> Callable[[], object]:
        return lambda: os.listdir(path) if os.path.isdir(path) else Path(path).read_bytes()

    return attempts({path: open_path(path) for path in json.loads(argument)})


def write(argument: bytes) -> bytes:
    """Try to write, change or plant something at each of the paths given as a JSON list."""
    results = {}
    for path in json.loads(argument):
        calls: list[Callable[[], object]] = [
            partial(os.open, path, os.O_WRONLY),
            partial(os.open, path + ".new", os.O_CREAT | os.O_WRONLY),
            partial(os.mkdir, path + ".d"),
            partial(os.symlink, "/", path + ".l"),
            partial(os.chmod, path, 0o777),
            partial(os.utime, path),
            partial(os.chown, path, os.getuid(), os.getgid()),
            partial(os.unlink, path),
            partial(os.truncate, path, 0),
        ]
        results[path] = [attempt(call) for call in calls]
    return json.dumps(results).encode()


def special_files(argument: bytes) -> bytes:
    """Try to make what could block or mislead a reader of the scratch folder."""
    bound = socket.AF_UNIX
    return attempts(
        {
            "fifo": lambda: os.mkfifo("fifo"),
            "device": lambda: os.mknod("device", 0o20666, os.makedev(1, 3)),
            "socket": lambda: socket.socket(bound).bind("socket"),
        }
    )


def execute(argument: bytes) -> bytes:
    """Try to run each of the paths given as a JSON list, and a program in the scratch folder."""

    def start(path: str) -> Callable[[], object]:
        return lambda: subprocess.run([path], capture_output=True, check=False)

    own = Path("own")
    own.write_bytes(b"#!/bin/true\n")
    own.chmod(0o700)
    return attempts({path: start(path) for path in [*json.loads(argument), str(own.resolve())]})


def root_listing(argument: bytes) -> bytes:
    """What exists at the top and in /dev."""
    return json.dumps({path: sorted(os.listdir(path)) for path in ("/", "/dev")}).encode()


def process_ids(argument: bytes) -> bytes:
    """Which processes exist: by /proc, and by asking for each id."""
    by_proc = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    by_signal = []
    for pid in range(1, 70_000):
        if attempt(partial(os.kill, pid, 0)) != "ESRCH":
            by_signal.append(pid)
    return json.dumps([os.getpid(), by_proc, by_signal]).encode()


def signal_host(argument: bytes) -> bytes:
    """Try to end processes of the host by their ids there, and everything at once."""
    pids = [int(pid) for pid in argument.split()]
    return attempts({str(pid): partial(os.kill, pid, 9) for pid in pids})


def network(argument: bytes) -> bytes:
    """Try every way to a socket; the argument is a loopback port and a socket's path."""
    port, path = argument.decode().split(" ")

    def connect(family: int, kind: int, address: object) -> Callable[[], object]:
        def call() -> None:
            with socket.socket(family, kind) as client:
                client.connect(address)  # type: ignore[arg-type]
                client.send(b"leak")

        return call

    left, _ = socket.socketpair()
    local = ("127.0.0.1", int(port))
    return attempts(
        {
            "tcp": connect(socket.AF_INET, socket.SOCK_STREAM, local),
            "udp": connect(socket.AF_INET, socket.SOCK_DGRAM, local),
            "tcp6": connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", int(port))),
            "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
            "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
            "unix": connect(socket.AF_UNIX, socket.SOCK_STREAM, path),
            "abstract": connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + path),
            "datagram": lambda: left.sendto(b"leak", path),
        }
    )


def forbidden_calls(argument: bytes) -> bytes:
    """System calls (x86-64 numbers) that reach for other processes, mounts or the machine."""
    new_user, new_net = 0x1000_0000, 0x4000_0000
    return attempts(
        {
            "ptrace": lambda: system_call(101, 16, 1),
            "process_vm_readv": lambda: system_call(310, 1),
            "pidfd_getfd": lambda: system_call(438, 0, 0, 0),
            "unshare": lambda: system_call(272, new_user),
            "clone": lambda: system_call(56, new_user | new_net | 17),
            "clone3": lambda: system_call(435, 0, 0),
            "mount": lambda: system_call(165, 0, 0, 0, 0, 0),
            "setns": lambda: system_call(308, 0, 0),
            "chroot": lambda: os.chroot("."),
            "bpf": lambda: system_call(321, 0, 0, 0),
            "perf_event_open": lambda: system_call(298, 0),
            "userfaultfd": lambda: system_call(323, 0),
            "io_uring_setup": lambda: system_call(425, 1, 0),
            "keyctl": lambda: system_call(250, 0),
            "open_by_handle_at": lambda: system_call(304, 0, 0, 0),
            "setuid": lambda: os.setuid(0),
            "setgroups": lambda: os.setgroups([0]),
            "personality": lambda: system_call(135, 0x0040000),
            "x32": lambda: system_call(0x4000_0000 + 39),
            "unknown": lambda: system_call(1000),
        }
    )


def system_call_32(argument: bytes) -> bytes:
    """Make a 32-bit system call, whose numbers mean other calls (x86-64 only)."""
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return str(ctypes.CFUNCTYPE(ctypes.c_int)(address)()).encode()


def privileges(argument: bytes) -> bytes:
    """Uid, groups, capabilities and locks of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    wanted = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Seccomp")
    return json.dumps({name: fields[name].split() for name in (*wanted, "NoNewPrivs")}).encode()


def _own_name() -> Path:
    return Path("/proc/self/task", str(os.getpid()), "comm")


def cuda_needs(argument: bytes) -> bytes:
    """What libcuda does beside using its device nodes."""

    def sequenced() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind("\0jail-test")
            listener.listen()

    return attempts(
        {
            "thread_name": lambda: Path("/proc/self/task", str(os.getpid()), "comm").write_text(
                "x"
            ),
            "sequenced": sequenced,
            "stream": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
            "inet": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
            "device": lambda: open("/dev/full", "r+b", buffering=0).close(),
            "other_device": lambda: open("/dev/zero", "rb").close(),
        }
    )
