"""The system-call filter: a deny list, since drivers and torch change what they call."""

import ctypes
import errno
import os
import struct
from dataclasses import dataclass
from functools import cache

from workers.jail import linux

# Name -> (x86-64, aarch64); None where the architecture has no such call.
_DENIED: dict[str, tuple[int | None, int | None]] = {
    # Other processes' memory, threads and descriptors.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Mounts and namespaces.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    # Large kernel surfaces that no kernel build needs.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "vmsplice": (278, 75),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "lookup_dcookie": (212, 18),
    # Channels between jails, and memory that no process is charged for.
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # The machine itself.
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "iopl": (172, None),
    "ioperm": (173, None),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    # Special files and identities.
    "mknod": (133, None),
    "mknodat": (259, 33),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    # The network.
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
}
_DENIED_WITHOUT_CUDA: dict[str, tuple[int | None, int | None]] = {
    "bind": (49, 200),
    "listen": (50, 201),
    "memfd_create": (319, 279),
}
# Answered as if the kernel were older, so that libraries fall back: a filter cannot see
# the flags of clone3, and io_uring passes by every filter.
_MISSING: dict[str, tuple[int | None, int | None]] = {
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
_HIGHEST_KNOWN = 462  # mseal; later calls did not exist when this list was written

_AF_UNIX = 1
_SOCK_SEQPACKET = 5
_MAP_TYPE_OR_ANONYMOUS = 0x2F
_MAP_SHARED_ANONYMOUS = 0x21
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C

_ALLOW = 0x7FFF_0000
_KILL_PROCESS = 0x8000_0000
_ERRNO = 0x0005_0000

_LOAD = 0x20
_AND = 0x54
_RETURN = 0x06
_IF_EQUAL = 0x15
_IF_SET = 0x45
_IF_GREATER = 0x25
_OFFSET_NUMBER = 0
_OFFSET_ARCHITECTURE = 4

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2


@dataclass(frozen=True)
class _Architecture:
    column: int  # in the tables above
    audit: int  # AUDIT_ARCH_*
    clone: int
    ioctl: int
    socket: int
    mmap: int
    prlimit: int


_ARCHITECTURES = {
    "x86_64": _Architecture(0, 0xC000_003E, clone=56, ioctl=16, socket=41, mmap=9, prlimit=302),
    "aarch64": _Architecture(
        1, 0xC000_00B7, clone=220, ioctl=29, socket=198, mmap=222, prlimit=261
    ),
}


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _refuse(number: int) -> bytes:
    return _instruction(_RETURN, _ERRNO | number)


def _load_argument(index: int) -> bytes:
    return _instruction(_LOAD, 16 + 8 * index)


def _for_call(number: int, *body: bytes) -> bytes:
    """Run `body`, which must end in a return, for this system call only."""
    return _instruction(_IF_EQUAL, number, 0, len(body)) + b"".join(body)


def _refuse_if(test: int, value: int, number: int) -> tuple[bytes, ...]:
    return (_instruction(test, value, 0, 1), _refuse(number), _instruction(_RETURN, _ALLOW))


def _socket_rule(cuda: bool) -> tuple[bytes, ...]:
    """No sockets; libcuda alone may have AF_UNIX SOCK_SEQPACKET (it names its memory by one)."""
    if not cuda:
        return (_refuse(errno.EAFNOSUPPORT),)
    return (
        _load_argument(0),
        _instruction(_IF_EQUAL, _AF_UNIX, 0, 4),
        _load_argument(1),
        _instruction(_AND, 0xF),
        _instruction(_IF_EQUAL, _SOCK_SEQPACKET, 0, 1),
        _instruction(_RETURN, _ALLOW),
        _refuse(errno.EAFNOSUPPORT),
    )


def _mmap_rule() -> tuple[bytes, ...]:
    """Shared anonymous memory stays allocated after it leaves every process's resident set."""
    return (
        _load_argument(3),
        _instruction(_AND, _MAP_TYPE_OR_ANONYMOUS),
        *_refuse_if(_IF_EQUAL, _MAP_SHARED_ANONYMOUS, errno.EPERM),
    )


def _ioctl_rule() -> tuple[bytes, ...]:
    """No input pushed into a terminal."""
    return (
        _load_argument(1),
        _instruction(_IF_EQUAL, _TIOCSTI, 1, 0),
        *_refuse_if(_IF_EQUAL, _TIOCLINUX, errno.EPERM),
    )


def _prlimit_rule() -> tuple[bytes, ...]:
    """One's own limits only: the init may share the uid, and would die of new ones."""
    return (
        _load_argument(0),
        _instruction(_IF_EQUAL, 0, 0, 1),
        _instruction(_RETURN, _ALLOW),
        _refuse(errno.EPERM),
    )


@cache
def program(machine: str, cuda: bool) -> bytes:
    """The filter as BPF code; ValueError for an architecture without a table."""
    if machine not in _ARCHITECTURES:
        known = ", ".join(_ARCHITECTURES)
        raise ValueError(f"no system-call table for {machine}: run the judge on {known}")
    arch = _ARCHITECTURES[machine]
    denied = _DENIED if cuda else {**_DENIED, **_DENIED_WITHOUT_CUDA}
    code = [
        _instruction(_LOAD, _OFFSET_ARCHITECTURE),
        _instruction(_IF_EQUAL, arch.audit, 1, 0),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD, _OFFSET_NUMBER),
        # Also the x32 calls of x86-64, which start at 0x40000000.
        _instruction(_IF_GREATER, _HIGHEST_KNOWN, 0, 1),
        _refuse(errno.ENOSYS),
        _for_call(
            arch.clone, _load_argument(0), *_refuse_if(_IF_SET, linux.CLONE_NEW_ANY, errno.EPERM)
        ),
        _for_call(arch.ioctl, *_ioctl_rule()),
        _for_call(arch.socket, *_socket_rule(cuda)),
        _for_call(arch.prlimit, *_prlimit_rule()),
    ]
    if not cuda:
        code.append(_for_call(arch.mmap, *_mmap_rule()))
    for table, number in ((denied, errno.EPERM), (_MISSING, errno.ENOSYS)):
        calls = (columns[arch.column] for columns in table.values())
        code += [_for_call(call, _refuse(number)) for call in calls if call is not None]
    return b"".join([*code, _instruction(_RETURN, _ALLOW)])


def install(cuda: bool) -> None:
    """Filter the calling thread and its descendants for good (needs no_new_privs)."""
    code = program(os.uname().machine, cuda)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    holder = ctypes.create_string_buffer(header, len(header))
    linux.prctl("seccomp", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(holder))
