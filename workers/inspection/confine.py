"""`python -m workers.inspection.confine UID PROGRAM …`: give up rights, then become the program.

A tool loads libraries into what it looks at, talks to it over loopback and reads its memory: the
jail forbids all three. This is what is left: no network but an empty loopback, no shared memory
with others, no privileges, as root a user of its own, and an end with its parent.
"""

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
import sys

_CLONE_NEWIPC = 0x0800_0000
_CLONE_NEWUSER = 0x1000_0000
_CLONE_NEWNET = 0x4000_0000
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x1 | 0x40
_FILE_BYTES = 1 << 30

TOOL_UID = 60_099
"""Of tools on a host whose workers run as root; next to those of the jail."""

_libc = ctypes.CDLL(None, use_errno=True)


def main(uid: int, command: list[str]) -> None:
    """Confine this process and run the command in its place; OSError names what failed."""
    _end_with_parent()
    root = os.geteuid() == 0
    _check(
        "unshare", _libc.unshare(_CLONE_NEWNET | _CLONE_NEWIPC | (0 if root else _CLONE_NEWUSER))
    )
    _raise_loopback()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    if root:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _end_with_parent()  # forgotten with the change of uid
    _check("no_new_privs", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    os.execvp(command[0], command)


def _end_with_parent() -> None:
    _check("pdeathsig", _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))


def _raise_loopback() -> None:
    """Tool and target meet on 127.0.0.1, which is down in a new namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP_RUNNING))


def _check(what: str, result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
