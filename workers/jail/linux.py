"""The Linux calls that Python has no binding for, each raising OSError with the call's name."""

import ctypes
import os
from pathlib import Path

CLONE_NEWNS = 0x0002_0000
CLONE_NEWCGROUP = 0x0200_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000
CLONE_NEW_ANY = 0x7E02_0080  # all of the above and CLONE_NEWTIME

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x4_0000

_MNT_DETACH = 2
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SYS_MOUNT_SETATTR = 442

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x2008_0522
_HIGHEST_CAPABILITY = 63

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *arguments: int | ctypes.Array[ctypes.c_char] | None) -> int:
    """Call `number`; integers go in as C longs, buffers as pointers, None as a null pointer."""
    wrapped = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *wrapped))


def prctl(name: str, option: int, *arguments: int) -> int:
    """Call prctl(2); missing arguments are zero."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return _checked(name, _libc.prctl(option, *(ctypes.c_ulong(a) for a in padded)))


def unshare(flags: int) -> None:
    """Give the calling process new namespaces."""
    _checked("unshare", _libc.unshare(ctypes.c_int(flags)))


def mount(source: str | None, target: Path, kind: str | None, flags: int, data: str = "") -> None:
    """Mount `source` on `target`."""
    encoded = [None if text is None else text.encode() for text in (source, kind)]
    result = _libc.mount(
        encoded[0], os.fsencode(target), encoded[1], ctypes.c_ulong(flags), data.encode() or None
    )
    _checked(f"mount {kind or source or ''} on {target}", result)


def restrict_mount(target: Path, flags: int, *, recursive: bool = True) -> None:
    """Add MS_RDONLY, MS_NOSUID, MS_NODEV or MS_NOEXEC to a mount and those below it."""
    attributes = (ctypes.c_uint64 * 4)(flags, 0, 0, 0)
    buffer = ctypes.create_string_buffer(bytes(attributes), 32)
    path = ctypes.create_string_buffer(os.fsencode(target))
    scope = _AT_RECURSIVE if recursive else 0
    name = f"mount_setattr {target}"
    syscall(name, _SYS_MOUNT_SETATTR, _AT_FDCWD, path, scope, buffer, 32)


def change_root(new_root: Path) -> None:
    """Make the mount `new_root` the root and detach the old one."""
    os.chdir(new_root)
    _checked("pivot_root", _libc.pivot_root(b".", b"."))
    _checked("umount2", _libc.umount2(b".", _MNT_DETACH))
    os.chdir("/")


def die_with_parent(signal_number: int) -> None:
    """Get `signal_number` when the parent thread ends; changing the uid forgets it."""
    prctl("PR_SET_PDEATHSIG", _PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parents end."""
    prctl("PR_SET_CHILD_SUBREAPER", _PR_SET_CHILD_SUBREAPER, 1)


def set_dumpable() -> None:
    """Own the files in /proc/self again after a change of uid."""
    prctl("PR_SET_DUMPABLE", _PR_SET_DUMPABLE, 1)


def set_no_new_privileges() -> None:
    """Make set-uid and file capabilities void for this process and its descendants."""
    prctl("PR_SET_NO_NEW_PRIVS", _PR_SET_NO_NEW_PRIVS, 1)


def drop_bounding_capabilities() -> None:
    """Empty the bounding and ambient sets (needs CAP_SETPCAP)."""
    prctl("PR_CAP_AMBIENT", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(_HIGHEST_CAPABILITY + 1):
        # EINVAL: above the last capability that this kernel knows.
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            if ctypes.get_errno() == 22 and capability > 0:
                return
            _checked("PR_CAPBSET_DROP", -1)


def drop_capabilities() -> None:
    """Empty the effective, permitted and inheritable sets."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _checked("capset", _libc.capset(header, (ctypes.c_uint32 * 6)()))


def close_all_except(kept: set[int]) -> None:
    """Close every file descriptor that is not in `kept`."""
    lowest = 0
    for descriptor in sorted(kept):
        if descriptor > lowest:  # Python would take an empty range for an endless one
            os.closerange(lowest, descriptor)
        lowest = descriptor + 1
    os.closerange(lowest, 2**31 - 1)
