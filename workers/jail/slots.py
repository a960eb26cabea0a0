"""Uids for jails, each held by a file lock that the kernel releases with its holder."""

import fcntl
import os
from pathlib import Path

from workers.jail.identity import FIRST_UID, SLOTS
from workers.jail.outcome import JailUnavailable

_MACHINE_WIDE = Path("/run/kerneljudge-jail-slots")


def slot_directory(runtime_dir: Path) -> Path:
    """Where the locks lie: uids belong to the machine, so root's locks do too."""
    directory = _MACHINE_WIDE if os.geteuid() == 0 else runtime_dir / "slots"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def take_slot(directory: Path) -> int:
    """Hold a free slot until this process ends and return its uid."""
    for uid in range(FIRST_UID, FIRST_UID + SLOTS):
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(directory / str(uid), flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        else:
            return uid
    raise JailUnavailable(f"all {SLOTS} jail slots in {directory} are taken: run fewer at once")
