"""Who the jailed process is: a uid of its own, or the judge's behind a user namespace."""

import os

from workers.jail import linux

FIRST_UID = 60100
SLOTS = 100


def needs_user_namespace() -> bool:
    """Whether this process must make a user namespace to get the others."""
    return os.geteuid() != 0


def enter_user_namespace(inner_id: int) -> None:
    """Move the single-threaded caller into a user namespace that maps `inner_id` alone to it."""
    uid, gid = os.geteuid(), os.getegid()
    linux.unshare(linux.CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inner_id} {uid} 1"),
        ("gid_map", f"{inner_id} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def become(uid: int) -> None:
    """Give up root for `uid` and its group of the same number, and every capability."""
    linux.drop_bounding_capabilities()
    if not needs_user_namespace():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    linux.drop_capabilities()
    linux.set_dumpable()
