"""File rights by Landlock: what the profile names, and nothing else."""

import os
import stat
import struct
from ctypes import create_string_buffer
from pathlib import Path

from workers.jail import linux
from workers.jail.profile import Profile

_SYS_CREATE_RULESET = 444
_SYS_ADD_RULE = 445
_SYS_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_REMOVE_DIR = 1 << 4
_REMOVE_FILE = 1 << 5
_MAKE_DIR = 1 << 7
_MAKE_REG = 1 << 8
_MAKE_SYM = 1 << 12
_REFER = 1 << 13
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_READ = _READ_FILE | _READ_DIR
# No sockets, pipes or device nodes: nothing in the scratch folder may block a reader.
_SCRATCH = (
    _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM
) | (_REFER | _TRUNCATE)
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

# Rights that each version of the interface knows, by the bit above the highest one.
_FILE_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
_NEWEST_FILE_BITS = 16
_ALL_NET = 0b11
_ALL_SCOPES = 0b11  # abstract Unix sockets and signals


def abi() -> int:
    """The version of the kernel's interface; 0 where there is none."""
    try:
        return linux.syscall(
            "landlock_create_ruleset", _SYS_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION
        )
    except OSError:
        return 0


def _handled(version: int) -> tuple[int, bytes]:
    files = (1 << _FILE_BITS.get(version, _NEWEST_FILE_BITS)) - 1
    parts = [files]
    if version >= 4:
        parts.append(_ALL_NET)
    if version >= 6:
        parts.append(_ALL_SCOPES)
    return files, struct.pack(f"={len(parts)}Q", *parts)


def _allow(ruleset: int, handled: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except PermissionError:
        return  # closed to the uid of the jail, without a private root: no right would open it
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _ON_FILES
        rule = create_string_buffer(struct.pack("=Qi", rights & handled, descriptor), 12)
        name = f"landlock_add_rule {path}"
        linux.syscall(name, _SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def program_interpreter(program: Path) -> Path | None:
    """The dynamic loader that a 64-bit ELF file asks for, which must be executable too."""
    with program.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return None
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for index in range(count):
            file.seek(table + index * size)
            kind, _, offset, _, _, length = struct.unpack("<IIQQQQ", file.read(40))
            if kind == 3:  # PT_INTERP
                file.seek(offset)
                return Path(os.fsdecode(file.read(length).rstrip(b"\0")))
    return None


def _rules(profile: Profile, scratch: Path, private_root: bool) -> list[tuple[Path, int]]:
    loaders = {program_interpreter(program) for program in profile.executable} - {None}
    return [
        # Names only; a private root holds nothing but what the profile names.
        *([(Path("/"), _READ_DIR)] if private_root else []),
        *((path, _READ) for path in profile.readable),
        *((path, _EXECUTE | _READ_FILE) for path in profile.executable),
        *((path, _EXECUTE | _READ_FILE) for path in loaders if path is not None),
        *((path, _READ_FILE | _WRITE_FILE | _IOCTL_DEV) for path in profile.devices),
        (Path("/dev/null"), _READ_FILE | _WRITE_FILE),
        (Path("/dev/random"), _READ_FILE),
        (Path("/dev/urandom"), _READ_FILE),
        (scratch, _SCRATCH),
    ]


def _proc_rules(profile: Profile, private_root: bool) -> list[tuple[Path, int]]:
    if not Path("/proc/self").exists():
        return []
    own = Path("/proc/self")
    readable = Path("/proc") if private_root and not profile.machine_proc else own
    # libcuda names its threads through /proc/self/task/*/comm, or fails with error 304.
    write = [(own, _READ | _WRITE_FILE | _TRUNCATE)] if profile.cuda_sockets else []
    return [(readable, _READ), *write]


def restrict(profile: Profile, scratch: Path, *, private_root: bool) -> None:
    """Confine the calling thread and its descendants for good (needs no_new_privs)."""
    handled, attributes = _handled(abi())
    buffer = create_string_buffer(attributes, len(attributes))
    ruleset = linux.syscall(
        "landlock_create_ruleset", _SYS_CREATE_RULESET, buffer, len(attributes), 0
    )
    for path, rights in _rules(profile, scratch, private_root):
        _allow(ruleset, handled, path, rights)
    for path, rights in _proc_rules(profile, private_root):
        _allow(ruleset, handled, path, rights)
    linux.syscall("landlock_restrict_self", _SYS_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
